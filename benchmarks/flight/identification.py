"""How often planted parameters are in the intervals of `identify`: `python -m benchmarks.flight.identification`."""

import argparse
import json
import time
from typing import Any

import numpy as np

from benchmarks.flight.planted import draw_planted, fly_planted
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.identify.identify import identify
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.sim.engines.compiler import keep_compiled

DIRECT = (
    *("delay_s", "mass_scale", "thrust_scale", "rotor_tau_scale", "wind_x_m_s", "wind_y_m_s", "gust_m_s"),
    "packet_loss",
)
"""Parameters that are found under the names by which they are planted."""


def study(name: str, teams: int, episodes: int, seed: int) -> dict[str, Any]:
    """Fly a bundle with planted vehicles and weather, identify every robot, and count.

    Args:
        name: of the bundle.
        teams: each of as many cases as it has robots.
        episodes: that each flies.
        seed: of all.
    """
    keep_compiled()
    policy, scenario = resolve_policy(name, kind=FlightScenario)
    planted = draw_planted(scenario, teams, seed)
    planted |= {
        "drag_per_s": 0 * planted["delay_s"] + scenario.vehicle_config.body.drag_per_s,
        "lift_scale": planted["thrust_scale"] / planted["mass_scale"],
        "position_noise_m": planted["noise_scale"] * scenario.sensing.position_noise_m,
        "velocity_noise_m_s": planted["noise_scale"] * scenario.sensing.velocity_noise_m_s,
    }
    tracks, rows, started = fly_planted(scenario, policy, planted, episodes, seed), {}, time.perf_counter()
    for team, flown in enumerate(tracks):
        for index, robot in enumerate(identify(scenario, flown)[0]):
            for p in robot.parameters:
                truth = planted[p.name][team, index]
                rows.setdefault(p.name, []).append((truth, p.value, p.low, p.high))
    cases = teams * scenario.count
    return {
        "cases": cases,
        "flown_s": episodes * scenario.time_limit_s,
        "seconds_each": (time.perf_counter() - started) / cases,
        "parameters": {name: summary(np.array(found)) for name, found in rows.items()},
    }


def summary(rows: np.ndarray) -> dict[str, float]:
    """Of [cases, 4]: truth, value and the ends of the interval."""
    truth, value, low, high = rows.T
    return {
        "covered": int(((low <= truth) & (truth <= high)).sum()),
        "error_rms": float(np.sqrt(((value - truth) ** 2).mean())),
        "half_width": float(np.median(high - low) / 2),
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", nargs="?", default="swap_4")
    parser.add_argument("--teams", type=int, default=25)
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    said = parser.parse_args()
    print(json.dumps(study(said.bundle, said.teams, said.episodes, said.seed), indent=1))


if __name__ == "__main__":
    main()
