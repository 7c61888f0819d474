"""A bundle that is adapted to a shift that is known: vehicles and weather are planted, and judge it too.

    python -m benchmarks.flight.planted_shift late --out runs/late

Of `carried` there is also the error of each robot over the last two seconds, on the very plant: one of four carries.
"""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from benchmarks.flight.planted import draw_planted, fly_planted, with_planted
from robomarl.domains.flight.lab.engines.mujoco import MujocoTeam
from robomarl.domains.flight.lab.engines.mujoco_bodies import MujocoBodies
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import positions
from robomarl.field.identify.believed import believing
from robomarl.field.identify.patch import Provenance
from robomarl.field.recorded_flights import RecordedFlights
from robomarl.front.cli.adapt import Args, adapt
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.resolve import resolve_policy

CARRIED = 0.043 / 0.033
"""Mass of a Crazyflie with 10 g more."""
SHIFTS: dict[str, dict[str, Any]] = {
    "late": {"delay_s": 0.12, "mass_scale": 1.05},
    "heavier": {"delay_s": 0.05, "mass_scale": 1.2, "thrust_scale": 1.0},
    "weak": {"delay_s": 0.05, "mass_scale": 1.2, "thrust_scale": 0.9},
    "carried": {"mass_scale": (CARRIED, 1.0, 1.0, 1.0), "thrust_scale": 1.0, "wind_x_m_s": 3.0, "wind_y_m_s": 0.0},
}
"""What is planted, of all vehicles or of each; all else is one draw of the scenario."""
JUDGES = {
    "late": "delay_s = [0.12, 0.12]\nmass_scale = [1.05, 1.05]",
    "heavier": "delay_s = [0.05, 0.05]\nmass_scale = [1.2, 1.2]\nthrust_scale = [1.0, 1.0]",
    "weak": "delay_s = [0.05, 0.05]\nmass_scale = [1.2, 1.2]\nthrust_scale = [0.9, 0.9]",
    "carried": f"mass_scale = [1.0, {CARRIED:.4f}]\nthrust_scale = [1.0, 1.0]\nwind_m_s = [3.0, 3.0]",
}
"""The section `randomize` of the scenario that judges."""
HOVER_S, LAST_S = 12.0, 2.0
TEAMS = 24
TOLD = Provenance(("planted",), "swap_4", "", "", "swap_4")


@dataclass(frozen=True)
class Options:
    """Of the command line."""

    shift: Annotated[str, tyro.conf.Positional]
    """A name of `SHIFTS`."""
    out: Path = Path("runs/shifted")
    flights: int = 6
    """Of 8 s, by one team."""
    minutes: float = 3.0
    steps: int = 2_000_000
    """Agent-steps of training, if the minutes suffice."""
    episodes: int = 200
    seed: int = 0


def main(options: Options) -> dict[str, Any]:
    """Fly, adapt, judge on the planted plant; the figures of `adapt.json`, and `error_m` of both."""
    policy, scenario = resolve_policy("swap_4", kind=FlightScenario)
    planted = {name: value * 0 + value.mean() for name, value in draw_planted(scenario, 1, options.seed).items()}
    planted |= {name: planted[name] * 0 + value for name, value in SHIFTS[options.shift].items()}
    tracks = fly_planted(scenario, policy, planted, options.flights, 5)[0]
    inside = [track.within(scenario.arena.low_m, scenario.arena.high_m) for track in tracks]
    judge = options.out.with_suffix(".toml")
    judge.parent.mkdir(parents=True, exist_ok=True)
    judge.write_text(f'extends = "swap_4"\n[randomize]\n{JUDGES[options.shift]}\n')
    args = Args("swap_4", (), options.out, judge=str(judge), minutes=options.minutes, episodes=options.episodes)
    args = dataclasses.replace(args, seed=options.seed, steps=options.steps)
    found = adapt(args, RecordedFlights(scenario, inside, TOLD, ()))
    factor = found["believed_mass_factor"]
    after = believing(options.out / "exact", "swap_4", factor, TOLD)
    now = planted | {"mass_scale": planted["mass_scale"] / factor}
    before = errors_m("swap_4", None, planted, options.seed)
    return {**found, "error_m": [before, errors_m(str(options.out / "run"), after, now, options.seed)]}


def errors_m(name: str, scenario: str | None, planted: dict[str, np.ndarray], seed: int) -> list[float]:
    """[N] mean distance of each robot to its goal over the last seconds of a long flight, on the very plant."""
    return last_errors_m(offsets_m(name, scenario, planted, seed))


def last_errors_m(offset_m: np.ndarray) -> list[float]:
    """[N] the same of `offsets_m`."""
    steps = round(len(offset_m) * LAST_S / HOVER_S)
    return np.linalg.norm(offset_m[-steps:], axis=-1).mean((0, 1)).round(4).tolist()


def offsets_m(
    name: str,
    scenario: str | None,
    planted: dict[str, np.ndarray],
    seed: int,
    bodies: Callable[[FlightScenario, int], MujocoBodies] = MujocoBodies,
) -> np.ndarray:
    """[T, TEAMS, N, 3] from each robot's goal to where it is, in a flight of `HOVER_S` on the very plant.

    `bodies` makes what moves, from scenario and number of teams.
    """
    policy, world = resolve_policy(name, scenario, kind=FlightScenario)
    sim, pilot = MujocoTeam(world, TEAMS, seed), make_pilot(policy, world, "full")
    sim.bodies = bodies(world, TEAMS)
    sim.set_world(with_planted(world, sim.reset(), {k: np.repeat(v, TEAMS, 0) for k, v in planted.items()}))
    carry, found = pilot.init(sim.views()), []
    for _ in range(round(HOVER_S / world.period_s)):
        carry, result = pilot.step(carry, sim.views())
        sim.step(result.command, pilot.plan(carry))
        found.append(positions(sim.world.body) - sim.world.goal_m)
    return np.stack(found)


if __name__ == "__main__":
    shown = main(tyro.cli(Options))
    print(json.dumps({k: shown[k] for k in ("success_before", "success_after", "error_m", "seconds")}))
