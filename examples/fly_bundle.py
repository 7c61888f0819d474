"""Load a bundle, build its simulator, fly it behind the safety filter, and keep the trajectories as arrays."""

import sys
from pathlib import Path

import numpy as np

from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.simulation import simulation_of


def fly(pilot, sim) -> dict[str, np.ndarray]:
    """One episode of every team of a simulator; arrays of [decisions, teams, robots, ...]."""
    sim.reset()
    carry, rows = pilot.init(sim.views()), []
    for _ in range(sim.scenario.max_steps):
        view = sim.views()  # all that each robot knows, with leading axes [teams, robots]
        carry, result = pilot.step(carry, view)
        sim.step(result.command, pilot.plan(carry))
        rows.append((view.own.pos_m, view.own.vel_m_s, result.nominal, result.command, result.active))
    names = ("position_m", "velocity_m_s", "nominal", "command", "filter_active")
    return {name: np.stack(part) for name, part in zip(names, zip(*rows, strict=True), strict=True)}


def main(name: str = "swap_4", out: str = "runs/trajectories.npz", teams: int = 2) -> dict[str, np.ndarray]:
    """Fly so many teams with a bundle or a run folder, in MuJoCo; writes the trajectories."""
    policy, scenario = resolve_policy(name)
    sim = simulation_of(scenario).batch(scenario, "mujoco", teams, 0)  # or "fast"
    found = fly(make_pilot(policy, scenario, "qp"), sim)
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    np.savez(out, **found)
    print(f"{out}: {', '.join(f'{key} {value.shape}' for key, value in found.items())}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
