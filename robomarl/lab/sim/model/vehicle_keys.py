"""`felt`: plant figures of a vehicle file that any engine of a `Model` knows.

An error is put into one figure of the file after another, and each engine is driven as before. If
no engine moves differently, the engines' agreement says nothing about that figure.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from robomarl.core.config import UserError
from robomarl.core.config.parsed import JsonObject, is_table
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.paths import vehicles_dir
from robomarl.core.tables import read_yaml
from robomarl.core.types import Array
from robomarl.lab.probe import Seen
from robomarl.lab.sim.scenario import Scenario

SECTIONS = ("body", "rotors", "control", "carrier", "drive", "wheels", "traction")
"""Sections of a vehicle file that determine its motion. The remaining sections hold limits and assumptions of the
filter.
"""
SHAPE = ("body.radius_m", "body.height_m")
"""For collisions, which no check drives into."""
ERRORS = (1.05, 0.95)
"""Factors; the second where the file is refused with the first."""


def felt(scenario: Scenario, driven: Callable[[Scenario], Seen]) -> dict[str, bool]:
    """Return True, for each plant figure in the scenario's vehicle file by its dotted key, if an engine
    knows it.

    Args:
        scenario: scenario with the vehicle.
        driven: scenario -> items seen on all engines.
    """
    read, _ = read_yaml(scenario.vehicle, "vehicle", vehicles_dir())
    content = read if is_table(read) else {}
    before, found = driven(scenario), {}
    with tempfile.TemporaryDirectory() as folder:
        for key in keys(content):
            other = _with_error(scenario, content, key, Path(folder) / "vehicle.yaml")
            if other is not None:
                found[key] = not _same(before, driven(other))
    return found


def keys(content: JsonObject) -> Iterator[str]:
    """Dotted keys of the plant's numbers, and lists of numbers."""
    for section in SECTIONS:
        for name, value in table_of(content, section).items():
            if f"{section}.{name}" not in SHAPE and numbers(value).dtype.kind in "fi":
                yield f"{section}.{name}"


def table_of(content: JsonObject, section: str) -> JsonObject:
    """The keys of a section; none where the file does not have it."""
    found = content.get(section)
    return found if is_table(found) else {}


def numbers(value: Array) -> np.ndarray:
    """A value of a file as an array, of numbers if it is one or a list of them."""
    return np.asarray(value)


def _with_error(scenario: Scenario, content: JsonObject, key: str, file: Path) -> Scenario | None:
    """The scenario with an error in its vehicle; None where the file is refused with any."""
    section, name = key.split(".")
    for error in ERRORS:
        table = table_of(content, section)
        value = (numbers(table[name]) * error).tolist()
        changed = {**content, section: {**table, name: value}}
        path = file.with_stem(f"{section}_{name}_{error}")
        path.write_text(yaml.safe_dump(changed, sort_keys=False))
        try:
            load_any_vehicle(str(path))
        except UserError:
            continue
        return replace(scenario, vehicle=str(path))
    return None


def _same(first: Seen, second: Seen) -> bool:
    """Return True if every number is equal in every bit."""
    return all(
        np.array_equal(a, b) for one, two in zip(first, second, strict=True) for a, b in zip(one, two, strict=True)
    )
