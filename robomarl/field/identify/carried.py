"""`CarriedFigures`: results of recordings about a team's payload, and the scenario that is written from them."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from robomarl.field.identify.patch import Provenance, named_from
from robomarl.field.identify.robot_fit import Parameter
from robomarl.lab.sim.scenario import Scenario


class CarriedFigures(NamedTuple):
    """Results of a domain."""

    parameters: tuple[Parameter, ...]
    missing: tuple[str, ...]
    """Sentences, one for each thing that can't be determined."""
    changes: dict[str, dict[str, object]]
    """Keys of a scenario's file by section; empty where nothing was found."""
    off_m: np.ndarray = np.zeros(0)
    """[B] in each observation, how far the scenario as it was given is off ..."""
    place: tuple[tuple[str, int, int], ...] = ()
    """[B] ... with its robot, its flight and its number in that flight."""

    @property
    def text(self) -> str:
        """A row for each figure."""
        return "\n".join(
            f"  {p.name:<10}  {p.unit}  {p.robot:<10}  {p.value:.4f} [{p.low:.4f}, {p.high:.4f}]"
            for p in self.parameters
        )


def write_carried(folder: Path, scenario: Scenario, found: CarriedFigures, of: Provenance) -> Path | None:
    """A scenario that extends the one that was flown; None where nothing was found."""
    if not found.changes:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"# {scenario.name} with what was identified of the payload: {of.line}."]
    lines.append(f'extends = "{named_from(folder, of.scenario)}"')
    for section, keys in found.changes.items():
        lines += ["", f"[{section}]", *(f"{key} = {value}" for key, value in keys.items())]
    file = folder / f"{scenario.name}_identified.toml"
    file.write_text("\n".join(lines) + "\n")
    return file
