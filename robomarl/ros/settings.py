"""Nodes' parameters as frozen dataclasses: names, defaults, ranges and meanings. No ROS here.

Types are those that ROS parameters have.
"""

import math
from dataclasses import dataclass, field
from typing import Any

NOWHERE = (-math.inf,) * 3
ANYWHERE = (math.inf,) * 3
DAY_S = 86400.0


def setting(default: Any, text: str, low: float | None = None, high: float | None = None) -> Any:
    """Return a field with the text that `ros2 param describe` shows."""
    return field(default=default, metadata={"text": text, "low": low, "high": high})


@dataclass(frozen=True)
class PolicySettings:
    """Parameters of `policy_node`."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots in the order of their indices")
    index: int = setting(0, "which of the team this robot is", 0, 1000)
    robot_root: str = setting("", "this robot's folder, where bundles are flashed to")
    bundle: str = setting("", "name or folder of a bundle, instead of the robot's current one")
    vehicle: str = setting("", "vehicle file that bounds the bundle; by default the one that it was made for")
    vehicles: tuple[str, ...] = setting(
        ("",),
        "vehicle files of all robots in the order of their indices, where they differ; by default all have its own",
    )
    estimator: str = setting("", "state estimator whose errors the vehicle file bounds; by default that file's choice")
    filter: str = setting("full", "safety filter: full and qp are constraints on pairs; certificate: committed courses")
    inner_loop: str = setting("", "control under its commands: attitude or torque_inversion; by default any")
    arena_low_m: tuple[float, float, float] = setting(NOWHERE, "lower corner of the box to stay in, map frame")
    arena_high_m: tuple[float, float, float] = setting(ANYWHERE, "upper corner of the box to stay in, map frame")
    obstacles: str = setting("", "what stands in it: a JSON list of kind, from_m, to_m, radius_m, map frame")
    needs_recorder: bool = setting(False, "not READY before a recorder says that it records this robot")
    autostart: bool = setting(False, "arm and activate once, as soon as every input is fresh and there is a goal")
    frozen_after_s: float = setting(
        0.5,
        "an estimate that has not changed in any bit for so long is stale; a day for a simulator without noise",
        0.05,
        DAY_S,
    )
    silent_after_s: float = setting(0.75, "blind braking lasts so long at most, then nothing is sent", 0.0, 10.0)
    radio_hz: float = setting(50.0, "state-and-plan messages per second, at most the policy's rate", 1.0, 1000.0)
    radio_reliable: bool = setting(False, "send lost state-and-plan messages again (they come late then)")
    radio_depth: int = setting(5, "state-and-plan messages that may wait for a slow reader", 1, 100)
    radio_range_m: float = setting(
        0.0, "robots nearer than this hear each other; the certificate forgets others; 0: all hear all", 0.0, 1e5
    )
    radio_within_s: float = setting(0.5, "time within which they do", 0.05, 10.0)
    via_link: bool = setting(False, "take odometry and team-mates' messages from the link emulator (rehearsals only)")
    heartbeat_after_s: float = setting(0.8, "without the E-stop's heartbeat for so long the robot lands", 0.2, 10.0)
    takeoff_s: float = setting(60.0, "in TAKEOFF for so long, its team not in the air: it lands", 1.0, 600.0)
    arm_lasts_s: float = setting(60.0, "an armed robot that is not activated for so long is disarmed", 1.0, 3600.0)
    blend_s: float = setting(0.5, "from hovering to the policy's command", 0.0, 10.0)
    on_robot_lost: str = setting("hold", "when a team-mate leaves or dies in flight: continue, hold or land")
    robot_lost_after_s: float = setting(0.8, "a team-mate that was not heard for so long in flight is lost", 0.1, 10.0)
    handover_m: float = setting(0.0, "altitude at which the policy takes over; 0: robots fly already", 0.0, 100.0)
    climb_m_s: float = setting(0.3, "speed of the climb to it", 0.05, 3.0)
    away: bool = setting(False, "of a game: this robot's team attacks towards -x of the map")
    pitch_m: tuple[float, float] = setting(
        (0.0, 0.0), "of a game: the field's length and width; 0: as where the bundle was trained"
    )

    image_transport: str = setting("raw", "pictures of a bundle that sees come as Image: raw, or as compressed")

    @property
    def name(self) -> str:
        """This robot."""
        return self.team[self.index]

    @property
    def is_unlike(self) -> bool:
        """True if robots of several vehicles are in the team."""
        return len(set(self.vehicles)) > 1


@dataclass(frozen=True)
class SimSettings:
    """Parameters of `sim_node`."""

    scenario: str = setting("swap_4", "name or file of the scenario")
    team: tuple[str, ...] = setting(("robot0",), "names of all robots in the order of their indices")
    seed: int = setting(0, "of the next reset; each reset adds one", 0, 2**31 - 1)
    log_dir: str = setting("", "folder for the flights' true logs; none are written without it")
    ground_start: bool = setting(False, "robots start on the ground")
    handover_m: float = setting(
        0.0, "the flight's clock starts when all have climbed there from the ground", 0.0, 100.0
    )
    tell_goals: bool = setting(False, "tell the robots the goals that the scenario drew, until somebody else does")
    clock: bool = setting(False, "publish /clock, for nodes with use_sim_time")


@dataclass(frozen=True)
class RecorderSettings:
    """Parameters of `recorder_node`."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots")
    base: str = setting("", "namespace of the team")
    sim: bool = setting(False, "record the simulator's truth as well")
    task: str = setting("", "of the scenario: what it senses is recorded as well")
    folder: str = setting("recording", "the bag's folder; it must not exist yet")
    again: bool = setting(False, "where the folder exists record into FOLDER_2, FOLDER_3, ...: a recorder that died")
    extra: tuple[str, ...] = setting(("",), "further topics: '/NAME PACKAGE/msg/TYPE', with ' latched' behind it")
    flush_s: float = setting(0.5, "what was received so long ago can be read whatever happens", 0.05, 1.0)
    split_mb: float = setting(512.0, "a file that has grown to this size is closed and a new one begun", 1.0, 1e5)
    min_free_mb: float = setting(500.0, "recording stops when less than this is free on the disk", 0.0, 1e6)
    pictures_hz: float = setting(2.0, "compressed pictures of each camera that are kept a second; 0: none", 0.0, 100.0)
    pictures_mb: float = setting(200.0, "for all pictures of a recording; later ones are left out", 0.0, 1e5)
    about: tuple[str, ...] = setting(("robomarl",), "KEY=VALUE for the bag's metadata (bundle id, fleet, ...)")


@dataclass(frozen=True)
class MonitorSettings:
    """Parameters of `monitor_node`."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots in the order of their indices")
    base: str = setting("", "namespace of the team")
    heartbeat_hz: float = setting(10.0, "how often it is said whether the E-stop is pressed", 2.0, 100.0)
    silent_after_s: float = setting(2.0, "a robot that has said nothing for so long is shown as silent", 0.5, 60.0)
    vehicle: str = setting("", "vehicle file; goals nearer to each other than two rest are told of; empty: none are")
    vehicles: tuple[str, ...] = setting(("",), "vehicle files of all robots in the order of team, where they differ")
    estimator: str = setting("", "state estimator whose errors the vehicle file bounds; by default that file's choice")
    filter: str = setting("full", "safety filter of the robots, whose resting distances goals must keep")


@dataclass(frozen=True)
class CrazyflieSettings:
    """Parameters of `crazyflie_node`."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots in the order of their indices")
    base: str = setting("", "namespace of the team")
    uris: tuple[str, ...] = setting(("",), "URI of each, as cflib takes it, such as radio://0/80/2M/E7E7E7E701")
    sim: bool = setting(False, "fly simulated ones, which have addresses of their own")
    vehicle: str = setting("crazyflie_21", "vehicle file: mass, limits, what happens when commands stop")
    estimator: str = setting("", "state estimator whose errors the vehicle file bounds; by default that file's choice")
    autostart: bool = setting(True, "configure and activate by itself; a vehicle moves once it is commanded")
    mode: str = setting("full_state", "what the vehicle is sent: full_state or attitude")
    on_estop: str = setting("land", "what the E-stop does to a vehicle in the air: land or kill (motors off)")
    rate_hz: float = setting(50.0, "state estimates of each vehicle per second", 4.0, 100.0)
    low_v: float = setting(3.2, "a lower voltage under load lands the vehicle", 2.5, 30.0)
    lift_m: float = setting(0.3, "height above the ground at which commands take over from the take-off", 0.1, 5.0)
    watchdog: bool = setting(True, "from the first take-off on motors stop when this node is silent for a second")
    types: tuple[str, ...] = setting(("Crazyflie 2.0", "Crazyflie 2.1"), "what vehicles may be; '' for any type")
    cache: str = setting("", "folder for the vehicles' tables of contents, so that they are read once")


@dataclass(frozen=True)
class CrazyswarmSettings:
    """Parameters of `crazyswarm_node`."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots in the order of their indices")
    base: str = setting("", "namespace of the team")
    uris: tuple[str, ...] = setting(("",), "where each is, such as ros:/cf231: its name in crazyflies.yaml")
    sim: bool = setting(False, "fly simulated ones, which have namespaces of their own")
    vehicle: str = setting("crazyflie_21", "vehicle file: limits, what happens when commands stop")
    estimator: str = setting("", "state estimator whose errors the vehicle file bounds; by default that file's choice")
    autostart: bool = setting(True, "configure and activate by itself; a vehicle moves once it is commanded")
    on_estop: str = setting("land", "what the E-stop does to a vehicle in the air: land or kill (motors off)")
    low_v: float = setting(3.2, "a lower voltage under load lands the vehicle", 2.5, 30.0)
    lift_m: float = setting(0.3, "height above the ground at which commands take over from the take-off", 0.1, 5.0)


@dataclass(frozen=True)
class AutopilotSettings:
    """Parameters of all nodes that fly one vehicle with an autopilot."""

    robot: str = setting("robot0", "name of the robot whose vehicle it is")
    index: int = setting(0, "its place in the team, from 0", 0, 200)
    base: str = setting("", "namespace of the team")
    uri: str = setting("", "where the vehicle is, such as udpin://0.0.0.0:14540?system=1, or ros:/px4_1?system=1")
    sim: bool = setting(False, "fly a simulated one, which has an address of its own")
    vehicle: str = setting("crazyflie_21", "vehicle file: mass, limits, what happens when commands stop")
    estimator: str = setting("", "state estimator whose errors the vehicle file bounds; by default that file's choice")
    autostart: bool = setting(True, "configure and activate by itself; a vehicle moves once it is commanded")
    on_estop: str = setting("land", "what the E-stop does to a vehicle in the air: land or kill (motors off)")
    low_v: float = setting(3.2, "a lower voltage of the whole battery under load lands the vehicle", 2.5, 100.0)
    low_share: float = setting(0.15, "a lower share of the battery's charge lands the vehicle", 0.0, 1.0)
    lift_m: float = setting(0.3, "height above the ground at which commands take over from the take-off", 0.1, 5.0)


@dataclass(frozen=True)
class MavlinkSettings(AutopilotSettings):
    """Parameters of `mavlink_node`."""

    rate_hz: float = setting(50.0, "state estimates per second that the vehicle is told to send", 4.0, 200.0)


@dataclass(frozen=True)
class MavrosSettings(AutopilotSettings):
    """Parameters of `mavros_adapter_node`."""


@dataclass(frozen=True)
class Px4DdsSettings(AutopilotSettings):
    """Parameters of `px4_dds_node`."""

    map_origin: tuple[float, ...] = setting(
        (math.nan,),
        "latitude, longitude [deg] and altitude [m] of the map's origin, which places each vehicle's local frame; "
        "without it all local frames begin there",
    )


@dataclass(frozen=True)
class LinkSettings:
    """Parameters of `link_node`; all but the first three may be changed while it runs."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots in the order of their indices")
    base: str = setting("", "namespace of the team")
    seed: int = setting(0, "of the random numbers", 0, 2**31 - 1)
    loss: float = setting(0.0, "share of radio messages that are lost on each link", 0.0, 1.0)
    burst: float = setting(1.0, "mean number of messages that are lost in a row", 1.0, 1000.0)
    delay_s: float = setting(0.0, "every radio message comes so much later", 0.0, 10.0)
    jitter_s: float = setting(0.0, "and up to so much more, uniform; messages may overtake each other", 0.0, 10.0)
    cut: tuple[str, ...] = setting(("",), "robots that nobody hears and that hear nobody; FROM>TO for one direction")
    sensor: tuple[str, ...] = setting(("",), "ROBOT=FAULT of odometry: silent, frozen, same, future, late, nan or jump")


@dataclass(frozen=True)
class MocapSettings:
    """Parameters of `mocap_node`."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots in the order of their indices")
    base: str = setting("", "namespace of the team")
    bodies: tuple[str, ...] = setting(("",), "what motion capture calls each robot; by default as the team does")
    source: str = setting("named_poses", "what it says: named_poses (NamedPoseArray), pose (PoseStamped) or tf")
    topic: str = setting("", "where; by default /poses, /{body}/pose or /tf")
    frame: str = setting("", "header.frame_id that its poses must have; by default any")
    axes: str = setting("z_up", "of its world and its bodies: z_up or y_up")
    origin_m: tuple[float, float, float] = setting((0.0, 0.0, 0.0), "where its origin is in the map")
    yaw_rad: float = setting(0.0, "how far its x axis is turned in the map, counter-clockwise", -math.pi, math.pi)
    stamps: str = setting("message", "a pose's time: of its message, or arrival at this machine")
    latency_s: float = setting(0.0, "from the cameras' picture to that time", 0.0, 1.0)
    vehicle: str = setting("crazyflie_21", "vehicle file: how far a robot moves, how well its velocity must be known")
    estimator: str = setting("", "state estimator whose errors the vehicle file bounds; by default that file's choice")
    pose_std_m: float = setting(0.0005, "scatter of a position (standard deviation)", 1e-6, 1.0)
    pose_std_rad: float = setting(0.005, "scatter of an attitude (standard deviation)", 1e-6, 1.0)
    jerk_m_s2: float = setting(3.0, "how much an acceleration wanders in a second; more follows faster", 0.01, 1000.0)
    turn_rad_s: float = setting(5.0, "how much a body rate wanders in a second; more follows faster", 0.01, 1000.0)
    lost_s: float = setting(
        0.3, "without a pose for so long a robot is lost; poses that are older don't count", 0.02, 5.0
    )
    imu: str = setting("", "sensor_msgs/Imu of each robot in its namespace, to find wrong frames; none without it")
    need_imu: bool = setting(False, "no odometry before turning by hand has shown that the frame is right")
    tf: bool = setting(True, "publish map -> NAME/base_link, where tf2_msgs is installed")
    autostart: bool = setting(True, "configure and activate by itself; nothing moves by that")


@dataclass(frozen=True)
class BaseSettings:
    """Parameters of `base_node`."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots in the order of their indices")
    base: str = setting("", "namespace of the team")
    vehicle: str = setting("turtlebot3_burger", "vehicle file: wheels, limits, what happens when commands stop")
    stamped: bool = setting(True, "the bases take TwistStamped; otherwise Twist")
    cmd_vel: str = setting("cmd_vel", "topic of each base, in its namespace, that takes the twist")
    odom: str = setting("odom", "topic of each base, in its namespace, with the odometry of its wheels")
    localization: str = setting(
        "start",
        "where a base is in the map: start (where it began), pose (PoseWithCovarianceStamped), tf (map to its odom "
        "frame), or odometry (another node publishes NAME/odometry, such as mocap_node)",
    )
    starts: tuple[float, ...] = setting(
        (0.0,), "with start: x, y [m] and yaw [rad] of each base's odom frame in the map"
    )
    pose: str = setting("amcl_pose", "with pose: topic of each base, in its namespace")
    odom_frame: str = setting("odom", "with tf: name of the odom frame; {robot} in it is replaced")
    battery: str = setting("", "sensor_msgs/BatteryState of each base, in its namespace; none without it")
    low_v: float = setting(11.0, "a lower voltage stops the base", 1.0, 100.0)
    autostart: bool = setting(True, "configure and activate by itself; a base moves once it is commanded")
