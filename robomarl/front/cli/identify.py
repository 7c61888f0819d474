"""Find a team's vehicles and weather from its recordings, with 95 % intervals, and write them down."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from robomarl.core.config import UserError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder

if TYPE_CHECKING:
    from robomarl.field.identify.carried import CarriedFigures
    from robomarl.field.recorded_flights import RecordedFlights


@dataclass(frozen=True)
class Args:
    """Options of `robomarl identify`."""

    bags: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="BAG [BAG ...]")]
    """Folders of recordings of one team's vehicles."""
    scenario: str = ""
    """Name or file of the scenario that is fitted; by default the one that was flown."""
    out: OutFolder = Path("runs/identified")
    """Folder for the vehicle's file and the scenario."""
    bundle: str = ""
    """Name or folder of the bundle; by default the one that was flown."""
    layout: Path | None = None
    """File that names the robots and topics in recordings of other software (PX4, MAVROS, Crazyswarm2)."""


def run(args: Args) -> Figures:
    """Fit, print a table, write the files; `ok` says that every robot was identified."""
    from tqdm import tqdm

    from robomarl.field.identify.identify import figures_of, identify, text_of
    from robomarl.field.identify.patch import write_patch
    from robomarl.field.identify.safety_figures import safety_figures
    from robomarl.field.recorded_flights import read_flights
    from robomarl.field.work import field_of
    from robomarl.lab.sim.engines.compiler import keep_compiled

    flown = read_flights(args.bags, args.scenario, args.bundle, args.layout)
    if find := field_of(flown.scenario).identify_payload:
        return show_carried(args, flown, find(flown.scenario, flown.tracks))
    keep_compiled()
    with tqdm(total=100, unit="%", disable=not sys.stderr.isatty(), leave=False) as bar:
        found, missing = identify(flown.scenario, flown.tracks, lambda share: bar.update(int(100 * share) - bar.n))
    print(text_of(found))
    figures = safety_figures(flown.scenario.vehicle_config, found)
    for row in figures:
        print(
            f"  safety.{row.name:<20}flights needed {row.measured:.3g}, file {row.file:g}, new {row.value:g} {row.unit}"
        )
    scenario_file, vehicle_file = write_patch(args.out, flown.scenario, found, figures, flown.provenance)
    for problem in (*flown.problems, *missing):
        print(f"problem: {problem}")
    print(f"scenario: {scenario_file}; vehicle: {vehicle_file}")
    return {
        **figures_of(found),
        "safety": [row._asdict() for row in figures],
        "provenance": flown.provenance._asdict(),
        "problems": [*flown.problems, *missing],
        "ok": not missing,
        "scenario": str(scenario_file),
        "vehicle": str(vehicle_file),
    }


def show_carried(args: Args, flown: "RecordedFlights", found: "CarriedFigures") -> Figures:
    """Print the identified payload of a team that carries, and write the scenario."""
    from robomarl.field.identify.carried import write_carried

    missing = [*flown.problems, *found.missing]
    print(found.text)
    file = write_carried(args.out, flown.scenario, found, flown.provenance)
    if file is None:
        raise UserError(f"{args.bags[0]}: nothing was found of a payload, and nothing written; {' '.join(missing)}")
    for problem in missing:
        print(f"problem: {problem}")
    print(f"scenario: {file}")
    return {
        "parameters": [row._asdict() for row in found.parameters],
        "provenance": flown.provenance._asdict(),
        "problems": missing,
        "ok": not found.missing,
        "scenario": str(file),
    }
