"""A bundle that carries, adapted to a payload that is known: 30 % too heavy, its centre of mass 5 cm off.

python -m benchmarks.flight.planted_load lift_3 --out runs/load
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from benchmarks.flight.carried import fly_carried
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.identify.patch import Provenance
from robomarl.field.recorded_flights import RecordedFlights
from robomarl.front.cli.adapt import Args, adapt
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.sim.scenario import load_scenario

PLANT = """extends = "{name}"
[load]
mass_kg = {mass_kg}
inertia_kg_m2 = {inertia}
com_m = {com_m}
[randomize]
load_mass_scale = [1.0, 1.0]
load_com_m = [0.0, 0.0]
"""
HEAVIER, ASIDE_M = 1.3, (0.04, -0.03, 0.0)


@dataclass(frozen=True)
class Options:
    """Of the command line."""

    bundle: Annotated[str, tyro.conf.Positional] = "lift_3"
    out: Path = Path("runs/load")
    goals: int = 20
    """Each a flight of 8 s."""
    steps: int | None = None
    """Agent-steps of the search; by default the recipe's."""
    episodes: int = 100
    seed: int = 0


def planted_plant(name: str, file: Path) -> Any:
    """The scenario of that name with this payload, written into a file."""
    load = load_scenario(name).load
    moved = [round(c + a, 4) for c, a in zip(load.com_m, ASIDE_M, strict=True)]
    inertia = [round(HEAVIER * j, 6) for j in load.inertia_kg_m2]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(PLANT.format(name=name, mass_kg=round(HEAVIER * load.mass_kg, 4), inertia=inertia, com_m=moved))
    return load_scenario(str(file))


def main(options: Options) -> dict[str, Any]:
    """Fly, adapt, judge on the planted plant; the figures of `adapt.json`."""
    policy, known = resolve_policy(options.bundle, kind=FlightScenario)
    judge = options.out.with_suffix(".toml")
    team = make_team(planted_plant(known.name, judge), "mujoco", 1, options.seed + 5)
    tracks = fly_carried(known, team, policy, options.goals, options.seed)[0]
    of = Provenance(("planted",), options.bundle, "", "", known.name)
    how = Args(options.bundle, (), options.out, judge=str(judge), steps=options.steps)
    return adapt(replace(how, episodes=options.episodes, seed=options.seed), RecordedFlights(known, tracks, of, ()))


if __name__ == "__main__":
    shown = main(tyro.cli(Options))
    print(json.dumps({key: shown[key] for key in ("chosen", "teams", "seconds")}, indent=1))
