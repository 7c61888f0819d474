"""The fleet plan: fleet file, bundle and options become a list of nodes. No ROS here.

`robomarl up`, the launch file and the tests all start what this says, so that they start the same.
"""

import json
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import robomarl
from robomarl.config import UserError
from robomarl.domains.soccer.ros_nodes.fleet_rules import check_team, rules_of, seat_of
from robomarl.hardware_configs.field import scenario_obstacles, settled
from robomarl.hardware_configs.fleet import Fleet, RobotConfig
from robomarl.ros_nodes.fieldtask import task_name
from robomarl.ros_nodes.settings import (
    LinkSettings,
    MissionSettings,
    MonitorSettings,
    PolicySettings,
    RecorderSettings,
    RefereeSettings,
    SimSettings,
)
from robomarl.ros_nodes.topics import REFEREE

PACKAGE = "robomarl"
MISSION_NODE = "domains.payload.ros_nodes.mission_node"
GAME_NODE = "domains.soccer.ros_nodes.game_node"
REFEREE_NODE = "domains.soccer.ros_nodes.referee_node"
MAX_DOMAIN = 101
"""Larger domain ids use ports that Linux gives to other programs."""


@dataclass(frozen=True)
class PlanOptions:
    """What the operator chooses."""

    bundle: str = ""
    """Name or folder of a bundle that all robots fly, instead of the one that each was flashed with."""
    against: str = ""
    """Of a game: the same for the second team, if it is another one."""
    match_s: float = 0.0
    """Of a game: length of a match; 0: the scenario's."""
    namespace: str = ""
    """Above the robots' own namespaces."""
    root: str = ""
    """Relative folders of the fleet file are below it; by default below the working directory."""
    robots: tuple[str, ...] = ()
    """Start the policy nodes of these only; by default of the whole team."""
    sim: bool = False
    """Simulate the robots with MuJoCo."""
    record: str = ""
    """Folder of the recording; none without it."""
    params_file: str = ""
    """ROS parameter file that all nodes read first."""
    use_sim_time: bool = False
    autostart: bool = False
    """Activate each robot as soon as its inputs are fresh and it has a goal. Nothing moves without this."""
    log_level: str = "info"
    seed: int = 0
    """Of the simulator's first reset."""
    log_dir: str = ""
    """Folder for the simulator's true logs."""
    link: bool = False
    """Put the link emulator between the robots, to rehearse loss, delay and faults of sensors."""
    mission: str = ""
    """Name or file of a mission: where the load of a team that carries one is to go, and when; none without it."""
    tell_goals: bool = False
    """The simulator tells the robots the scenario's goals, until somebody else does."""
    monitor: bool = True
    """Start a monitor: one machine of a team does."""
    ground: bool = False
    """Simulated robots start on the ground: they take off before the policy flies."""


@dataclass(frozen=True)
class NodeSpec:
    """One process."""

    executable: str
    """Console script, for `ros2 run robomarl EXECUTABLE` and launch files."""
    module: str
    """The same as a Python module, where there is no `ros2`."""
    name: str
    """Name of the node."""
    namespace: str
    """Absolute, or empty for the root."""
    parameters: dict[str, Any]
    lifecycle: bool = False
    respawn: bool = False
    """Started again when it ends by itself: a robot then waits in STANDBY, the team's heartbeat goes on."""
    remaps: tuple[tuple[str, str], ...] = ()
    params_file: str = ""
    log_level: str = "info"
    environment: dict[str, str] = field(default_factory=dict)
    """Added to that of the parent."""

    @property
    def full_name(self) -> str:
        """Absolute name of the node."""
        return f"{self.namespace}/{self.name}"

    def arguments(self) -> list[str]:
        """Command line of the process, after the program."""
        rules = [f"__node:={self.name}", *([f"__ns:={self.namespace}"] if self.namespace else [])]
        rules += [f"{a}:={b}" for a, b in self.remaps]
        words = ["--ros-args", *(word for rule in rules for word in ("-r", rule))]
        words += ["--log-level", self.log_level]
        words += ["--params-file", self.params_file] if self.params_file else []
        pairs = [f"{name}:={_yaml(value)}" for name, value in self.parameters.items()]
        return words + [word for pair in pairs for word in ("-p", pair)]


def plan_fleet(fleet: Fleet, options: PlanOptions = PlanOptions()) -> list[NodeSpec]:  # noqa: B008
    """All nodes of a fleet, policy nodes first, in the order of the robots' indices.

    Raises:
        UserError: `robots` or `namespace` is not possible.
    """
    team = sorted(fleet.robots, key=lambda robot: robot.index)
    names = tuple(robot.name for robot in team)
    for name in options.robots:
        if name not in names:
            raise UserError(f"Fleet {fleet.name} has no robot {name!r}; it has {', '.join(names)}.")
    base = "/" + options.namespace.strip("/") if options.namespace.strip("/") else ""
    chosen = [robot for robot in team if not options.robots or robot.name in options.robots]
    check_team(fleet)
    specs = [_policy(fleet, robot, names, base, options) for robot in chosen]
    team_of = {"team": names, "base": base}
    specs += _shared(team_of, base, options)
    if options.sim:
        specs.append(_sim(fleet, names, base, options))
    if fleet.teams > 1:
        specs.append(_referee(fleet, names, base, options))
    if options.mission:
        told = {**team_of, "mission": options.mission, "task": task_name(fleet.scenario), "sim": options.sim}
        specs.append(_spec("mission_node", MISSION_NODE, ("mission", base), _checked(MissionSettings, told), options))
    if options.record:
        specs.append(_recorder(fleet, base, options, specs))
    return specs


def _shared(team_of: dict[str, Any], base: str, options: PlanOptions) -> list[NodeSpec]:
    """Monitor and link emulator."""
    specs = []
    if options.monitor:
        watched = _checked(MonitorSettings, team_of)
        specs.append(
            replace(_spec("monitor_node", "ros_nodes.monitor_node", ("monitor", base), watched, options), respawn=True)
        )
    if options.link:
        seeded = _checked(LinkSettings, {**team_of, "seed": options.seed})
        specs.append(_spec("link_node", "ros_nodes.link_node", ("link", base), seeded, options))
    return specs


def environment(sim: bool, domain_id: int | None = None) -> dict[str, str]:
    """What all nodes, and whoever talks to them, need in their environment.

    Raises:
        UserError: the domain id is out of range.
    """
    if domain_id is not None and not 0 <= domain_id <= MAX_DOMAIN:
        raise UserError(f"--domain-id {domain_id} is out of range; it must be from 0 to {MAX_DOMAIN}.")
    # Shared memory made discovery take seconds now and then when several nodes ran on one machine.
    made = {"FASTDDS_BUILTIN_TRANSPORTS": "UDPv4", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if sim:
        made["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    if domain_id is not None:
        made["ROS_DOMAIN_ID"] = str(domain_id)
    return made


def _policy(fleet: Fleet, robot: RobotConfig, names: tuple[str, ...], base: str, options: PlanOptions) -> NodeSpec:
    plays = fleet.teams > 1
    field_test = settled(fleet.field, "" if plays else fleet.scenario, getattr(fleet.vehicle_config, "climb_m_s", None))
    seat = seat_of(fleet, robot, names)
    about = {
        **seat,
        "robot_root": str(Path(options.root, robot.folder).absolute()),
        "bundle": _absolute((seat["away"] and options.against) or options.bundle),
        "vehicle": fleet.vehicle,
        "autostart": options.autostart and not plays,  # the referee starts a match
        "via_link": options.link,
        "radio_hz": float(fleet.radio.rate_hz),
        "radio_reliable": fleet.radio.reliable,
        "radio_depth": fleet.radio.depth,
        "on_robot_lost": field_test.on_robot_lost,
        "handover_m": field_test.handover_m if options.ground or not options.sim else 0.0,
        "climb_m_s": field_test.climb_m_s,
        "obstacles": json.dumps(stands) if (stands := scenario_obstacles(fleet.scenario)) else "",
    }
    where = ("policy_node", f"{base}/{robot.name}")
    made = _spec("policy_node", "ros_nodes.policy_node", where, _checked(PolicySettings, about), options)
    return replace(made, lifecycle=True, respawn=True)


def _sim(fleet: Fleet, team: tuple[str, ...], base: str, options: PlanOptions) -> NodeSpec:
    plays = fleet.teams > 1
    climbs = options.ground and not plays
    about = {
        "scenario": fleet.scenario,
        "team": team,
        "seed": options.seed,
        "log_dir": options.log_dir,
        "ground_start": climbs,
        "handover_m": settled(fleet.field, fleet.scenario, None).handover_m if climbs else 0.0,
        "tell_goals": options.tell_goals and not plays and not options.mission,
        "clock": options.use_sim_time,
    }
    node = ("game_node", GAME_NODE) if plays else ("sim_node", "ros_nodes.sim_node.node")
    spec = _spec(*node, ("sim", base), _checked(SimSettings, about), options)
    return replace(spec, parameters={**spec.parameters, "use_sim_time": False})  # it makes the time


def _referee(fleet: Fleet, team: tuple[str, ...], base: str, options: PlanOptions) -> NodeSpec:
    about = {"team": team, "base": base, "sim": options.sim, "autostart": options.autostart}
    about |= rules_of(fleet, options.match_s)
    return _spec("referee_node", REFEREE_NODE, (REFEREE, base), _checked(RefereeSettings, about), options)


def _recorder(fleet: Fleet, base: str, options: PlanOptions, others: list[NodeSpec]) -> NodeSpec:
    """The recorder; what all other nodes were started with goes into the recording."""
    said = {"fleet": fleet.name, "vehicle": fleet.vehicle, "scenario": fleet.scenario, "commit": commit()}
    said |= {f"parameters{spec.full_name}": json.dumps(spec.parameters) for spec in others}
    about = {
        "team": tuple(robot.name for robot in sorted(fleet.robots, key=lambda robot: robot.index)),
        "base": base,
        "sim": options.sim,
        "task": task_name(fleet.scenario),
        "folder": options.record,
        "about": tuple(f"{key}={value}" for key, value in said.items()),
    }
    where = ("recorder", base)
    return _spec("recorder_node", "ros_nodes.recorder_node", where, _checked(RecorderSettings, about), options)


def commit() -> str:
    """Of the checkout that this runs from; the version where there is none."""
    git = Path(robomarl.__file__).parents[1] / ".git"
    try:
        head = (git / "HEAD").read_text().strip()
        return (git / head.removeprefix("ref: ")).read_text().strip() if head.startswith("ref: ") else head
    except OSError:
        return f"robomarl {robomarl.__version__}"


def _spec(
    executable: str,
    module: str,
    where: tuple[str, str],
    parameters: dict,
    options: PlanOptions,
) -> NodeSpec:
    return NodeSpec(
        executable=executable,
        module=f"{PACKAGE}.{module}",
        name=where[0],
        namespace=where[1],
        parameters={**parameters, "use_sim_time": options.use_sim_time},
        params_file=options.params_file,
        log_level=options.log_level,
        environment=environment(options.sim),
    )


def _checked(settings: type, values: dict[str, Any]) -> dict[str, Any]:
    """The parameters, after a check that the node has all of them; empty texts are left to their defaults."""
    unknown = values.keys() - {f.name for f in fields(settings)}
    assert not unknown, f"{settings.__name__} has no {unknown}"
    lists = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return {name: value for name, value in lists.items() if value != ""}


def _absolute(bundle: str) -> str:
    """A folder as an absolute path, because nodes may run elsewhere; names stay as they are."""
    return str(Path(bundle).absolute()) if bundle and Path(bundle).is_dir() else bundle


def _yaml(value: Any) -> str:
    """A parameter value as ROS reads it on the command line: JSON is YAML."""
    return json.dumps(value)
