"""A bundle that is adapted to a team whose vehicles push each other down, with a residual and without.

    python -m benchmarks.flight.downwash --out runs/downwash

Errors are those over the last seconds of long flights on the very plant, which no fit and no training has seen.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from benchmarks.flight.planted import draw_planted
from benchmarks.flight.planted_shift import HOVER_S, last_errors_m, offsets_m
from benchmarks.flight.pushed import STACKED, PushedBodies, downwash, fly_pushed
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.identify.patch import Provenance
from robomarl.field.recorded_flights import RecordedFlights
from robomarl.front.cli.adapt import Args, adapt
from robomarl.lab.evaluate.resolve import resolve_policy

UNDER_WAY_S = 1.0
"""By then start heights, which are drawn, are made good."""


@dataclass(frozen=True)
class Options:
    """Of the command line."""

    out: Path = Path("runs/downwash")
    size_m_s2: float = 3.0
    """Of the push right beside another vehicle."""
    flights: int = 10
    """Of 8 s, by one team."""
    minutes: float = 2.0
    """Of training, each."""
    episodes: int = 60
    seed: int = 0


def main(options: Options) -> dict[str, Any]:
    """Fly, adapt twice; errors [m] of each robot with each policy, and what `adapt` says of itself."""
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "stacked.toml"
    file.write_text(STACKED)
    policy, scenario = resolve_policy("swap_4", str(file), kind=FlightScenario)
    planted = {n: value * 0 + value.mean() for n, value in draw_planted(scenario, 1, options.seed).items()}
    effect = downwash(options.size_m_s2)
    tracks = fly_pushed(scenario, policy, planted, options.flights, effect)
    told = Provenance(("planted",), "swap_4", "", "", str(file))
    bodies = partial(PushedBodies, effect=effect)
    fly = partial(offsets_m, scenario=str(file), planted=planted, seed=options.seed, bodies=bodies)
    rows = {"deployed": flown("swap_4", fly)}
    for name, beside in (("without", False), ("with", True)):
        folder = options.out / name
        how = Args("swap_4", (), folder, minutes=options.minutes, residual=beside)
        args = replace(how, episodes=options.episodes, seed=options.seed)
        found = adapt(args, RecordedFlights(scenario, tracks, told, ()))
        rows[name] = {
            **flown(str(folder / "run"), fly),
            **{key: found[key] for key in ("success_before", "success_after", "seconds", "residual", "prediction")},
        }
    return rows


def flown(name: str, fly: Callable[..., np.ndarray]) -> dict[str, Any]:
    """Of each robot [m]: the mean error over the last seconds, and the mean of how deep below its goal's height it gets
    once it is on its way."""
    offset_m = fly(name)
    after = round(len(offset_m) * UNDER_WAY_S / HOVER_S)
    return {
        "error_m": last_errors_m(offset_m),
        "dip_m": (-offset_m[after:, ..., 2]).max(0).mean(0).round(4).tolist(),
    }


if __name__ == "__main__":
    print(json.dumps(main(tyro.cli(Options)), indent=1))
