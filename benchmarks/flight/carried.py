"""How often what is planted of a payload is in the intervals of `identify`: `python -m benchmarks.flight.carried`.

Robots know the scenario as it is; its payload's mass, its centre of mass, the cables and where these are tied are drawn
from wider ranges, and stay the same from goal to goal.
"""

import json
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import tyro

from benchmarks.flight.identification import summary
from robomarl.core.view import LocalView
from robomarl.domains.flight.field.payload.hang import find_payload
from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.payload.start import draw_pose
from robomarl.domains.flight.lab.payload.state import Load
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.views import local_views
from robomarl.field.track import RobotTrack
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.sim.scenario import load_scenario

GOAL_S = 8.0
"""How long the payload stays at a goal, the way there included."""
RANGES = {"load_mass_scale": (0.8, 1.3), "load_com_m": (0.0, 0.05), "cable_scale": (0.97, 1.03)}
"""That payloads and cables are drawn from, beside the scenario's own."""


@dataclass(frozen=True)
class Options:
    """Of the command line."""

    bundle: Annotated[str, tyro.conf.Positional] = "lift_3"
    payloads: int = 60
    goals: int = 4
    """Of each payload, for `GOAL_S` each."""
    sim: str = "fast"
    seed: int = 0


def planted(scenario: FlightScenario, ranges: dict[str, tuple[float, float]]) -> FlightScenario:
    """The scenario with payloads of these ranges."""
    return replace(scenario, randomize=replace(scenario.randomize, **ranges))


def fly_carried(known: FlightScenario, team: TeamSim, policy: Any, goals: int, seed: int) -> list[list[RobotTrack]]:
    """The tracks of each team's robots; each goal counts as a flight.

    Args:
        known: what the robots believe.
        team: on whatever plant, newly made.
        policy: what flies.
        goals: how many, one after the other.
        seed: of the goals.
    """
    pilot, rng = make_pilot(policy, known, "full"), np.random.default_rng(seed)
    team.reset()
    carry, found = pilot.init(local_views(known, team.world)), [[] for _ in range(team.num_envs)]
    for goal in range(goals):
        send(team, rng)
        rows, sent = [], []
        for _ in range(round(GOAL_S / known.period_s)):
            views = local_views(known, team.world)
            carry, result = pilot.step(carry, views)
            team.step(result.command, pilot.plan(carry))
            rows.append(told(views))
            sent.append(np.asarray(result.command, float))
        time_s = (np.arange(len(rows)) + goal * (len(rows) + 100)) * known.period_s
        for own, table, command in zip(found, np.stack(rows, 2), np.stack(sent, 2), strict=True):
            own += [track(f"robot_{i}", goal, time_s, table[i], command[i]) for i in range(known.count)]
    return found


def send(team: TeamSim, rng: np.random.Generator) -> None:
    """The payload of each team to a goal that is drawn."""
    world, section = team.world, team.scenario.load
    assert isinstance(world.load, Load), "the scenario carries"
    assert section is not None, "the scenario carries"
    place, quat = draw_pose(section.goal, rng.random((team.num_envs, 6)).astype(np.float32))
    goal, turn = (part[:, None] + 0 * world.goal_m[..., :1] for part in (place, quat))
    team._world = world._replace(goal_m=goal, load=world.load._replace(goal_quat=turn))  # noqa: SLF001  # it flies on


def told(views: LocalView) -> np.ndarray:
    """[E, N, 20] own state and the payload's pose, as robots know them."""
    own, sensed = views.own, views.sensed
    pose = (sensed.load_pos_m, sensed.load_quat_wxyz)  # type: ignore[union-attr]
    return np.concatenate((own.pos_m, own.quat_wxyz, own.vel_m_s, own.omega_rad_s, *pose), -1).astype(float)


def track(robot: str, flight: int, time_s: np.ndarray, row: np.ndarray, command: np.ndarray) -> RobotTrack:
    """Of rows [K, 20] of `told`."""
    pos, quat, vel, omega, sensed = np.split(row, [3, 7, 10, 13], axis=1)
    return RobotTrack(robot, flight, time_s, pos, quat, vel, omega, time_s, command, sensed=sensed)


def main(options: Options) -> dict[str, Any]:
    """Fly, identify, count."""
    policy, known = resolve_policy(options.bundle, kind=FlightScenario)
    team = make_team(planted(load_scenario(known.name), RANGES), options.sim, options.payloads, options.seed)
    tracks = fly_carried(known, team, policy, options.goals, options.seed)
    load = team.world.load
    assert isinstance(load, Load), "the scenario carries"
    cargo = load.cargo
    truth = {"mass_kg": cargo.mass_kg, **{f"com_{axis}_m": c for axis, c in zip("xyz", cargo.com_m, strict=True)}}
    rows, missing = {}, 0
    for number, flown in enumerate(tracks):
        found = find_payload(known, flown).parameters
        missing += not found
        for p in found:
            own = truth[p.name][number] if p.robot == "payload" else cargo.length_m[number, int(p.robot[-1])]
            rows.setdefault(p.name, []).append((own, p.value, p.low, p.high))
    figures = {name: {"cases": len(found), **summary(np.array(found))} for name, found in rows.items()}
    return {"payloads": options.payloads, "not_told": missing, "parameters": figures}


if __name__ == "__main__":
    print(json.dumps(main(tyro.cli(Options)), indent=1))
