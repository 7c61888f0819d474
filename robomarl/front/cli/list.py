"""Scenarios, bundles, vehicles and fleets that ship with robomarl."""

from dataclasses import dataclass

from robomarl.core.paths import bundles_dir, fleets_dir, scenarios_dir, vehicles_dir
from robomarl.core.types import Figures


@dataclass(frozen=True)
class Args:
    """Options of `robomarl list`."""

    rest: bool = False
    """Print how near to each other, to walls and to obstacles each vehicle rests; with --json the figures too."""


def run(args: Args) -> Figures:
    """Print the names of all files that ship."""
    found = {
        "scenarios": sorted(p.stem for p in scenarios_dir().glob("*.toml")),
        "bundles": sorted(p.parent.name for p in bundles_dir().glob("*/bundle.json")),
        "vehicles": sorted(p.stem for p in vehicles_dir().glob("*.yaml")),
        "fleets": sorted(p.stem for p in fleets_dir().glob("*.yaml")),
    }
    for kind, names in found.items():
        print(f"{kind + ':':<11}{', '.join(names) or '(none)'}")
    return {**found, "rest": rest_rows(found["vehicles"])} if args.rest else found


def rest_rows(vehicles: list[str]) -> list[Figures]:
    """Print the resting distances of vehicles as the table of docs/new_vehicle.md; a row for each, [m]."""
    from robomarl.core.goals.rest import vehicle_margins, vehicle_rest
    from robomarl.core.hardware.vehicle import load_any_vehicle

    rows = []
    for name in vehicles:
        vehicle = load_any_vehicle(name)
        figures = vehicle_rest(vehicle)._asdict() | vehicle_margins(vehicle)._asdict()
        print(f"| `{name}` | {' | '.join('–' if v is None else f'{v:.2f}' for v in figures.values())} |")
        rows.append({"vehicle": name, **figures})
    return rows
