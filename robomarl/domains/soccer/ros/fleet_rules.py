"""Additions of a game to the fleet plan: two teams, and a referee. No ROS here."""

from pathlib import Path

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.core.config.parsed import number_in
from robomarl.core.domain.onboard import Content, Node
from robomarl.core.hardware.field import scenario_content
from robomarl.core.hardware.fleet import Fleet, RobotConfig
from robomarl.domains.soccer.ros.playing import check_roles
from robomarl.domains.soccer.ros.settings import CameraSettings, RefereeSettings, SslSettings
from robomarl.domains.soccer.ros.topics import REFEREE
from robomarl.fleet.store import Store
from robomarl.ros.operator.fleet_plan import PlanOptions


def check_fleet(fleet: Fleet, content: Content) -> None:
    """Check that the fleet has the teams that its scenario is for.

    Raises:
        UserError: a game without two teams of its size, or with roles that no robot can play.
    """
    if (fleet.teams, fleet.team_size) != (2, size := int(number_in(content, "count"))):
        named = f"{fleet.teams} team{'s' * (fleet.teams > 1)}"
        raise UserError(
            f"Fleet {fleet.name} has {len(fleet.robots)} robots in {named}, its scenario {fleet.scenario} is for "
            f"2 teams of {size}; write teams: 2 and name {2 * size} robots."
        )
    check_roles({"name": fleet.scenario, **content})


def seat(content: Content) -> dict[str, object]:
    """A policy node's parameters that say where it plays."""
    return {"pitch_m": _pitch_m(content)}


def nodes(fleet: Fleet, options: PlanOptions) -> list[Node]:
    """The referee, and where robots are simulated and their bundles see, their cameras."""
    values = {"autostart": options.autostart, **rules_of(fleet, options.match_s)}
    module = "robomarl.domains.soccer.ros.referee_node"
    return [Node("referee_node", module, REFEREE, RefereeSettings, values), *camera_nodes(fleet, options)]


def camera_nodes(fleet: Fleet, options: PlanOptions) -> list[Node]:
    """The node that draws the cameras of simulated players, if the bundle of any sees."""
    robots = sorted(fleet.robots, key=lambda robot: robot.index)
    seeing = tuple(robot.name for robot in robots if options.sim and _sees(fleet, robot, options))
    if not seeing:
        return []
    names = tuple(robot.name for robot in robots)
    values = {"team": names, "seeing": seeing, "scenario": fleet.scenario, "vehicle": fleet.vehicle}
    return [Node("camera_node", "robomarl.domains.soccer.field.camera_node", "cameras", CameraSettings, values)]


def _sees(fleet: Fleet, robot: RobotConfig, options: PlanOptions) -> bool:
    """True if the bundle that a robot will fly has a picture; False where it has no bundle yet."""
    second = robot.index >= fleet.team_size
    try:
        if named := (second and options.against) or options.bundle:
            return load_bundle(named).contract.image is not None
        store = Store(Path(options.root, robot.folder))
        current = store.state().current
        return current is not None and store.load(current).contract.image is not None
    except UserError:
        return False  # the policy node says what is wrong with it


def ssl_adapter(fleet: Fleet, options: PlanOptions) -> Node:
    """Return the adapter node for robots of the Small Size League.

    Raises:
        UserError: a robot that is not simulated has no URI.
    """
    robots, content = sorted(fleet.robots, key=lambda robot: robot.index), scenario_content(fleet.scenario)
    if not options.sim and (silent := [robot.name for robot in robots if not robot.uri]):
        raise UserError(f"Fleet {fleet.name}: {silent[0]} has no uri; say which it is, such as ssl:blue/3.")
    foreign = tuple(robot.name for robot in robots if robot.foreign)
    values = {
        "team": tuple(robot.name for robot in robots),
        **({"foreign": foreign} if foreign else {}),  # ROS has no type for an empty list
        "uris": tuple(robot.uri for robot in robots),
        "vehicle": fleet.vehicle,
        "pitch_m": _pitch_m(content),
        "policy_hz": number_in(content, "rates", "policy_hz"),
    }
    module = "robomarl.domains.soccer.vehicles.ssl.node"
    return Node("ssl_node", module, "ssl_node", SslSettings, values)


def rules_of(fleet: Fleet, match_s: float) -> dict[str, float]:
    """A referee's parameters that are the scenario's numbers; `match_s`: length of the match, 0 for the scenario's."""
    content = scenario_content(fleet.scenario)
    return {
        "length_m": _pitch_m(content)[0],
        "ball_radius_m": number_in(content, "ball", "radius_m"),
        "stuck_m": number_in(content, "rules", "stuck_m"),
        "stuck_s": number_in(content, "rules", "stuck_s"),
        "match_s": match_s or number_in(content, "time_limit_s"),
    }


def _pitch_m(content: Content) -> list[float]:
    return [number_in(content, "field", side) for side in ("length_m", "width_m")]
