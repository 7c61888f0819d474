"""Parameters of the nodes that only a game has. No ROS here."""

import math
from dataclasses import dataclass

from robomarl.ros.settings import setting


@dataclass(frozen=True)
class RefereeSettings:
    """Parameters of `referee_node`."""

    team: tuple[str, ...] = setting(
        ("robot0",), "names of the robots that it starts and stops, in the order of their indices: not foreign ones"
    )
    base: str = setting("", "namespace of the game")
    sim: bool = setting(False, "the simulator puts robots and ball back; the match's time is the simulated one")
    autostart: bool = setting(False, "start the match as soon as all robots are READY")
    length_m: float = setting(4.5, "of the field, from goal to goal", 0.1, 1000.0)
    ball_radius_m: float = setting(0.0215, "of the ball", 0.001, 1.0)
    stuck_m: float = setting(0.15, "a ball that stays within this distance ...", 0.001, 100.0)
    stuck_s: float = setting(3.0, "... for so long is put back", 0.1, 1000.0)
    match_s: float = setting(60.0, "length of a match", 0.1, 1e5)


@dataclass(frozen=True)
class CameraSettings:
    """Parameters of `camera_node`."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots of both teams in the order of their indices")
    base: str = setting("", "namespace of the game")
    sim: bool = setting(True, "there are simulated robots: the node draws no others")
    seeing: tuple[str, ...] = setting(("robot0",), "those of `team` whose bundle sees")
    scenario: str = setting("soccer_2v2", "name or file of the scenario: what is drawn")
    vehicle: str = setting("ssl_omni", "vehicle file with the camera")
    jpeg_hz: float = setting(2.0, "compressed pictures a second beside the raw ones, for recordings", 0.0, 100.0)


@dataclass(frozen=True)
class SslSettings:
    """Parameters of `ssl_node`."""

    team: tuple[str, ...] = setting(("robot0",), "names of all robots of both teams in the order of their indices")
    base: str = setting("", "namespace of the game")
    uris: tuple[str, ...] = setting(("",), "which each is, such as ssl:blue/3: colour and number of its pattern")
    foreign: tuple[str, ...] = setting(("",), "those of `team` that another operator commands: they are only seen")
    sim: bool = setting(False, "drive simulated ones, whose vision and radio have addresses of their own")
    vehicle: str = setting("ssl_omni", "vehicle file: wheels, limits, what happens when commands stop")
    pitch_m: tuple[float, float] = setting((4.5, 3.0), "length and width of the field")
    policy_hz: float = setting(25.0, "decisions of the policies per second", 1.0, 1000.0)
    vision: str = setting("224.5.23.2:10006", "multicast group and port of the league's vision")
    interface: str = setting("0.0.0.0", "address of this machine in vision's network; 0.0.0.0: the system chooses")
    radio: str = setting("127.0.0.1", "address that takes robot commands: blue at port 10301, yellow at 10302")
    turned: bool = setting(False, "the first team attacks towards vision's -x")
    stamps: str = setting("message", "a picture's time: what vision says, or its arrival at this machine")
    latency_s: float = setting(0.0, "from the cameras' picture to that time", 0.0, 1.0)
    response_s: float = setting(
        0.05, "from a command to the robot's motion: radio, and the lag of its wheels", 0.0, 0.5
    )
    fov_rad: float = setting(
        2 * math.pi, "a player is told what lies in a cone of this width before it", 0.1, 2 * math.pi
    )
    range_m: float = setting(100.0, "and not further away", 0.1, 100.0)
    pose_std_m: float = setting(0.0013, "scatter of a position (standard deviation)", 1e-6, 1.0)
    pose_std_rad: float = setting(0.01, "scatter of an orientation (standard deviation)", 1e-6, 1.0)
    jerk_m_s2: float = setting(3.0, "how much an acceleration wanders in a second; more follows faster", 0.01, 1000.0)
    turn_rad_s: float = setting(5.0, "how much a yaw rate wanders in a second; more follows faster", 0.01, 1000.0)
    vision_s: float = setting(0.2, "a robot that vision has not seen for so long is stopped", 0.05, 2.0)
    autostart: bool = setting(True, "configure and activate by itself; a robot moves once it is commanded")
