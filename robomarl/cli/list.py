"""Scenarios, bundles, vehicles and fleets that ship with robomarl."""

from dataclasses import dataclass

from robomarl.paths import bundles_dir, fleets_dir, scenarios_dir, vehicles_dir


@dataclass(frozen=True)
class Args:
    """No options."""


def run(args: Args) -> dict[str, list[str]]:
    """Print the names of what there is."""
    found = {
        "scenarios": sorted(p.stem for p in scenarios_dir().glob("*.toml")),
        "bundles": sorted(p.parent.name for p in bundles_dir().glob("*/bundle.json")),
        "vehicles": sorted(p.stem for p in vehicles_dir().glob("*.yaml")),
        "fleets": sorted(p.stem for p in fleets_dir().glob("*.yaml")),
    }
    for kind, names in found.items():
        print(f"{kind + ':':<11}{', '.join(names) or '(none)'}")
    return found
