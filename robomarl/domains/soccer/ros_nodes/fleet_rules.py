"""What a game adds to the fleet plan: two teams, and a referee. No ROS here."""

from typing import Any

from robomarl.config import UserError
from robomarl.domains.soccer.ros_nodes.playing import check_roles
from robomarl.hardware_configs.field import scenario_content
from robomarl.hardware_configs.fleet import Fleet, RobotConfig
from robomarl.ros_nodes.topics import SOCCER


def check_team(fleet: Fleet) -> None:
    """Whether the fleet has the teams that its scenario is for.

    Raises:
        UserError: a game without two teams of its size or with roles that nobody can play, or two teams without a game.
    """
    content = scenario_content(fleet.scenario)
    plays, said = content.get("task") == SOCCER, f"Fleet {fleet.name} has {len(fleet.robots)} robots"
    if not plays and fleet.teams > 1:
        raise UserError(f"{said} in {fleet.teams} teams; its scenario {fleet.scenario} is no game, so write teams: 1.")
    if not plays:
        return
    if (fleet.teams, fleet.team_size) != (2, content["count"]):
        named, size = f"{fleet.teams} team{'s' * (fleet.teams > 1)}", content["count"]
        raise UserError(
            f"{said} in {named}, its scenario {fleet.scenario} is for 2 teams of {size}; "
            f"write teams: 2 and name {2 * size} robots."
        )
    check_roles({"name": fleet.scenario, **content})


def seat_of(fleet: Fleet, robot: RobotConfig, names: tuple[str, ...]) -> dict[str, Any]:
    """A policy node's parameters that say who it is and where it plays: team, index, side and field.

    Args:
        fleet: of one team, or of two.
        robot: who.
        names: of all robots in the order of their indices.
    """
    size = fleet.team_size
    side, index = divmod(robot.index, size)
    seat = {"team": names[side * size : (side + 1) * size], "index": index, "away": bool(side)}
    return seat | ({"pitch_m": _pitch_m(scenario_content(fleet.scenario))} if fleet.teams > 1 else {})


def rules_of(fleet: Fleet, match_s: float) -> dict[str, float]:
    """A referee's parameters that are the scenario's numbers; `match_s`: length of the match, 0 for the scenario's."""
    content = scenario_content(fleet.scenario)
    rules = content["rules"]
    return {
        "length_m": _pitch_m(content)[0],
        "ball_radius_m": float(content["ball"]["radius_m"]),
        "stuck_m": float(rules["stuck_m"]),
        "stuck_s": float(rules["stuck_s"]),
        "match_s": float(match_s or content["time_limit_s"]),
    }


def _pitch_m(content: dict[str, Any]) -> list[float]:
    return [float(content["field"][side]) for side in ("length_m", "width_m")]
