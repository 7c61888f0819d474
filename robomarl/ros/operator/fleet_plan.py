"""Fleet plan: fleet file, bundle and options become a list of nodes. No ROS here.

`robomarl up`, the launch file and the tests all start the nodes of this plan, so that they all
start alike.
"""

import json
from dataclasses import fields, replace
from pathlib import Path

import robomarl
from robomarl.core.config import UserError
from robomarl.core.domain.onboard import Onboard
from robomarl.core.domain.registry import onboard_of
from robomarl.core.hardware.field import scenario_content, scenario_obstacles, settled
from robomarl.core.hardware.fleet import Fleet, RobotConfig
from robomarl.core.hardware.sections import ASSUMED
from robomarl.ros.fieldtask import task_name
from robomarl.ros.io.environment import environment
from robomarl.ros.operator.node_spec import PACKAGE, NodeSpec, Parameters
from robomarl.ros.operator.peers import PeerProgram, peer_program
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.settings import (
    BaseSettings,
    CrazyflieSettings,
    CrazyswarmSettings,
    LinkSettings,
    MavlinkSettings,
    MavrosSettings,
    MocapSettings,
    MonitorSettings,
    PolicySettings,
    Px4DdsSettings,
    RecorderSettings,
    SimSettings,
)
from robomarl.ros.topics import GOAL, graph_of
from robomarl.ros.vehicle_topics.crazyflie_uris import check_uris

NODES, VEHICLES = "robomarl.ros", "robomarl.vehicles"
_MAVLINK = ("mavlink_node", f"{VEHICLES}.nodes mavlink_node", MavlinkSettings)
ADAPTERS = {
    "crazyflie": ("crazyflie_node", f"{VEHICLES}.nodes crazyflie_node", CrazyflieSettings),
    "crazyswarm": ("crazyswarm_node", f"{VEHICLES}.nodes crazyswarm_node", CrazyswarmSettings),
    "px4": _MAVLINK,
    "ardupilot": _MAVLINK,
    "mavros": ("mavros_adapter_node", f"{VEHICLES}.nodes mavros_adapter_node", MavrosSettings),
    "px4_dds": ("px4_dds_node", f"{VEHICLES}.nodes px4_dds_node", Px4DdsSettings),
    "base": ("base_node", f"{VEHICLES}.base.node", BaseSettings),
}
"""Script, module and parameters of each adapter's node."""


def plan_fleet(fleet: Fleet, options: PlanOptions = PlanOptions()) -> list[NodeSpec]:  # noqa: B008
    """All nodes of a fleet, policy nodes first, in the order of the robots' indices.

    Raises:
        UserError: `robots` or `namespace` is not possible.
    """
    names, own = names_of(fleet), tuple(robot.name for robot in fleet.own)
    for name in options.robots:
        if name not in own:
            why = "has no robot" if name not in names else "has no node of ours for foreign robot"
            raise UserError(f"Fleet {fleet.name} {why} {name!r}; it has {', '.join(own)}.")
    base = "/" + options.namespace.strip("/") if options.namespace.strip("/") else ""
    chosen = [r for r in fleet.own if options.policies and (not options.robots or r.name in options.robots)]
    domain = domain_of_fleet(fleet)
    check_estimator(fleet, options)
    specs = [_policy(fleet, robot, names, base, options) for robot in chosen]
    team_of = {"team": own, "base": base}
    specs += _shared(fleet, team_of, base, options)
    if options.sim:
        specs.append(_sim(fleet, names, base, options))
    if options.vehicles:
        specs += _adapters(fleet, team_of, options)
    if options.mocap:
        specs.append(_mocap(fleet, team_of, options))
    for node in domain.nodes(fleet, options):
        about = _checked(node.settings, {**team_of, "sim": options.sim, **node.values})
        specs.append(_spec(node.script, node.module, (node.name, base), about, options))
    if options.record:
        specs.append(_recorder(fleet, base, options, specs))
    return specs


def names_of(fleet: Fleet) -> tuple[str, ...]:
    """Return the names of all robots, foreign ones included, in the order of their indices."""
    return tuple(robot.name for robot in sorted(fleet.robots, key=lambda robot: robot.index))


def check_estimator(fleet: Fleet, options: PlanOptions) -> None:
    """Raise `UserError` for real robots of a vehicle with measured estimators where nothing says which one flies, or
    where no node makes the one that does.
    """
    vehicle, real = fleet.vehicle_config, not options.sim and (options.vehicles or options.mocap)
    flies = (vehicle.estimators or {}).get(vehicle.estimator or "")
    if real and flies and flies.corrector and (options.mocap or options.vehicles != "crazyflie"):
        raise UserError(
            f"Fleet {fleet.name}: estimator = {vehicle.estimator} is a Crazyflie's own estimate that crazyflie_node "
            "corrects; fly with --vehicles crazyflie and without --mocap, or name another estimator."
        )
    if not real or fleet.estimator or vehicle.estimator or not vehicle.estimators:
        return
    raise UserError(
        f"Fleet {fleet.name}: estimator is missing, and {vehicle.name}.yaml has measured bounds of "
        f"{', '.join(vehicle.estimators)}; write which one of them flies into the fleet file, or {ASSUMED}."
    )


def loop_under(vehicles: str) -> str:
    """Return the kind of control under the commands of robots with these adapters; "" if it is not known."""
    return "attitude" if vehicles in ADAPTERS and vehicles != "base" else ""


def domain_of_fleet(fleet: Fleet) -> Onboard:
    """Return the domain of the fleet's scenario.

    Raises:
        UserError: the fleet does not fit its scenario.
    """
    content = scenario_content(fleet.scenario)
    domain = onboard_of(content)
    if fleet.teams > 1 and not domain.is_game:
        raise UserError(
            f"Fleet {fleet.name} has {len(fleet.robots)} robots in {fleet.teams} teams; "
            f"its scenario {fleet.scenario} is no game, so write teams: 1."
        )
    domain.check_fleet(fleet, content)
    return domain


def _shared(fleet: Fleet, team_of: Parameters, base: str, options: PlanOptions) -> list[NodeSpec]:
    """Monitor and link emulator."""
    specs = []
    if options.monitor:
        has_goals = graph_of(task_name(fleet.scenario)).goal is GOAL  # each robot its own
        named = {"vehicle": _absolute(fleet.vehicle), "estimator": fleet.estimator} if has_goals else {}
        named |= {"filter": fleet.filter} if has_goals else {}
        named |= _unlike(fleet) if has_goals else {}
        watched = _checked(MonitorSettings, {**team_of, **named})
        specs.append(
            replace(
                _spec("monitor_node", f"{NODES}.monitor_node", ("monitor", base), watched, options),
                respawn=True,
            )
        )
    if options.link:
        seeded = _checked(LinkSettings, {**team_of, "seed": options.seed})
        specs.append(_spec("link_node", f"{NODES}.link_node", ("link", base), seeded, options))
    return specs


def _policy(fleet: Fleet, robot: RobotConfig, names: tuple[str, ...], base: str, options: PlanOptions) -> NodeSpec:
    plays = fleet.teams > 1
    field_test = settled(fleet.field, "" if plays else fleet.scenario, getattr(fleet.vehicle_config, "climb_m_s", None))
    seat = _seat(fleet, robot, names)
    about = {
        **seat,
        "robot_root": str(Path(options.root, robot.folder).absolute()),
        "bundle": _absolute((seat["away"] and options.against) or options.bundle),
        **_vehicles(fleet, robot),
        "filter": fleet.filter,
        "inner_loop": loop_under(options.vehicles),
        "autostart": options.autostart and not plays,  # the referee starts a match
        "via_link": options.link,
        "radio_hz": float(fleet.radio.rate_hz),
        "radio_reliable": fleet.radio.reliable,
        "radio_depth": fleet.radio.depth,
        "radio_range_m": float(fleet.radio.range_m),
        "radio_within_s": float(fleet.radio.within_s),
        "needs_recorder": options.sim and bool(options.record),  # what was used before it hears them can't be replayed
        "on_robot_lost": field_test.on_robot_lost,
        "handover_m": field_test.handover_m if options.ground or not options.sim else 0.0,
        "climb_m_s": field_test.climb_m_s,
        "obstacles": json.dumps(stands) if (stands := scenario_obstacles(fleet.scenario)) else "",
    }
    where = ("policy_node", f"{base}/{robot.name}")
    made = _spec("policy_node", f"{NODES}.policy_node", where, _checked(PolicySettings, about), options)
    return replace(made, lifecycle=True, respawn=True)


def _vehicles(fleet: Fleet, robot: RobotConfig) -> Parameters:
    """Return a robot's vehicle and estimator, and the vehicles of all robots where they differ."""
    return {**_own(fleet, robot), **_unlike(fleet)}


def _unlike(fleet: Fleet) -> Parameters:
    """Return the vehicles of all robots where they differ."""
    return {"vehicles": tuple(_absolute(fleet.vehicle_of(one)) for one in fleet.own)} if fleet.is_unlike else {}


def _own(fleet: Fleet, robot: RobotConfig) -> Parameters:
    """Return a robot's vehicle and estimator."""
    return {"vehicle": _absolute(fleet.vehicle_of(robot)), "estimator": fleet.estimator}


def _seat(fleet: Fleet, robot: RobotConfig, names: tuple[str, ...]) -> Parameters:
    """Return the parameters of a robot's place: team, index, side, and parameters that its domain adds."""
    size = fleet.team_size
    side, index = divmod(robot.index, size)
    seat: Parameters = {"team": names[side * size : (side + 1) * size], "index": index, "away": bool(side)}
    content = scenario_content(fleet.scenario)
    return seat | dict(onboard_of(content).seat(content))


def _sim(fleet: Fleet, team: tuple[str, ...], base: str, options: PlanOptions) -> NodeSpec:
    if fleet.is_unlike:
        raise UserError(f"Fleet {fleet.name}: a simulator has robots of one vehicle; try unlike ones on real vehicles.")
    plays = fleet.teams > 1
    climbs = options.ground and not plays
    about = {
        "scenario": _absolute(fleet.scenario),
        "team": team,
        "seed": options.seed,
        "log_dir": options.log_dir,
        "ground_start": climbs,
        "handover_m": settled(fleet.field, fleet.scenario, None).handover_m if climbs else 0.0,
        "tell_goals": options.tell_goals and not plays and not options.mission,
        "clock": options.use_sim_time,
    }
    domain = onboard_of(scenario_content(fleet.scenario))
    if options.vehicles and options.vehicles not in domain.peers:
        raise UserError(f"Robots of {fleet.scenario} can't be simulated as {options.vehicles}; leave `vehicles` out.")
    sim = peer_program(options.vehicles) if options.vehicles else PeerProgram(PACKAGE, *domain.sim_node)
    spec = _spec(sim.executable, sim.module, ("sim", base), _checked(SimSettings, about), options)
    about = {**spec.parameters, "use_sim_time": False}  # it makes the time
    return replace(spec, package=sim.package, parameters=about)


def _adapters(fleet: Fleet, team_of: Parameters, options: PlanOptions) -> list[NodeSpec]:
    """Return the adapters between the robots' commands and their vehicles: one node for all, or one for
    each.

    Raises:
        UserError: there is no such adapter, or a vehicle that is not simulated has no URI.
    """
    own = onboard_of(scenario_content(fleet.scenario)).adapters
    if options.vehicles in own:
        node = own[options.vehicles](fleet, options)
        told = _checked(node.settings, {**team_of, "sim": options.sim, **node.values})
        return [_spec(node.script, node.module, (node.name, team_of["base"]), told, options)]
    if options.vehicles not in ADAPTERS:
        raise UserError(
            f"vehicles = {options.vehicles!r} must be one of {', '.join([*ADAPTERS, *own])} for robots of "
            f"{fleet.scenario}."
        )
    script, module, settings = ADAPTERS[options.vehicles]
    if fleet.is_unlike and settings in (BaseSettings, CrazyflieSettings, CrazyswarmSettings):
        raise UserError(
            f"Fleet {fleet.name}: vehicles = {options.vehicles!r} are of one vehicle file; start others apart."
        )
    if settings is BaseSettings:  # they are found by their topics
        values = {**team_of, "vehicle": _absolute(fleet.vehicle), **_localized(options)}
        return [_spec(script, module, (script, team_of["base"]), _checked(settings, values), options)]
    robots, base = fleet.own, team_of["base"]
    if not options.sim and (silent := [robot.name for robot in robots if not robot.uri]):
        raise UserError(f"Fleet {fleet.name}: {silent[0]} has no uri; say where its autopilot is.")
    about = {"vehicle": _absolute(fleet.vehicle), "estimator": fleet.estimator, "sim": options.sim, "base": base}
    if settings is CrazyflieSettings and not options.sim:
        check_uris(tuple(robot.uri for robot in robots), team_of["team"])
    if settings in (CrazyflieSettings, CrazyswarmSettings):
        about |= {"team": team_of["team"], "uris": tuple(robot.uri for robot in robots)}
        return [_spec(script, module, (script, base), _checked(settings, about), options)]
    seats = [
        (robot, {**about, **_own(fleet, robot), "robot": robot.name, "index": robot.index, "uri": robot.uri})
        for robot in robots
    ]
    return [
        _spec(script, module, (f"{script.removesuffix('_node')}_{robot.name}", base), _checked(settings, seat), options)
        for robot, seat in seats
    ]


def _localized(options: PlanOptions) -> dict[str, str]:
    """Return the parameters for the localization of bases: motion capture, if there is one."""
    return {"localization": "odometry"} if options.mocap else {}


def _mocap(fleet: Fleet, team_of: Parameters, options: PlanOptions) -> NodeSpec:
    """Return the node that makes odometry from motion capture.

    Raises:
        UserError: the robots are simulated.
    """
    if options.sim:
        raise UserError(f"mocap = {options.mocap!r} is for real robots: a simulator tells where its robots are itself.")
    named = {"vehicle": _absolute(fleet.vehicle), "estimator": fleet.estimator}
    about = {**team_of, "source": options.mocap, **named}
    where = ("mocap_node", team_of["base"])
    return _spec("mocap_node", f"{VEHICLES}.mocap.node", where, _checked(MocapSettings, about), options)


def _recorder(fleet: Fleet, base: str, options: PlanOptions, others: list[NodeSpec]) -> NodeSpec:
    """Return the recorder; the parameters of all other nodes go into the recording."""
    said = {"fleet": fleet.name, "vehicle": fleet.vehicle, "scenario": fleet.scenario, "commit": commit()}
    said |= {f"parameters{spec.full_name}": json.dumps(spec.parameters) for spec in others}
    about = {
        "team": tuple(robot.name for robot in fleet.own),
        "base": base,
        "sim": options.sim,
        "task": task_name(fleet.scenario),
        "folder": options.record,
        "again": True,
        "about": tuple(f"{key}={value}" for key, value in said.items()),
    }
    where = ("recorder", base)
    made = _spec("recorder_node", f"{NODES}.recorder_node", where, _checked(RecorderSettings, about), options)
    return replace(made, respawn=True)


def commit() -> str:
    """Return the commit of the checkout that this runs from; the version if there is no checkout."""
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
        module=module,
        name=where[0],
        namespace=where[1],
        parameters={**parameters, "use_sim_time": options.use_sim_time},
        params_file=options.params_file,
        log_level=options.log_level,
        environment=environment(options.sim, options.domain_id, options.keystore),
        enclave=f"{where[1]}/{where[0]}" if options.keystore else "",
    )


def _checked(settings: type, values: Parameters) -> Parameters:
    """Return the parameters after a check that the node has each one; empty texts are left out for their defaults."""
    unknown = values.keys() - {f.name for f in fields(settings)}
    assert not unknown, f"{settings.__name__} has no {unknown}"
    lists = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return {name: value for name, value in lists.items() if value != ""}


def _absolute(name: str) -> str:
    """A bundle's folder, or a file, as an absolute path, because nodes may run elsewhere; names stay as they are."""
    is_path = Path(name).is_dir() or name.endswith((".toml", ".yaml", ".yml"))
    return str(Path(name).absolute()) if name and is_path else name
