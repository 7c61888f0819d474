"""Vehicles that are heavier than their low-level controllers assume, and their flights with
controllers that know.

A payload takes lift that the policy's commands do not have: with 2.9 m/s^2 that a vehicle may
command, a mass 30 % larger than its file's takes all. The excess that all robots share is no matter
of the policy; the vehicle's file takes it up, and so must the firmware.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from robomarl.core.config.parsed import is_table, number_in, table_in
from robomarl.core.paths import vehicles_dir
from robomarl.core.tables import read_yaml
from robomarl.field.identify.patch import Provenance, named_from
from robomarl.field.identify.robot_fit import RobotFit
from robomarl.field.track import RobotTrack
from robomarl.lab.sim.scenario import load_scenario

LEAST = 0.05
"""Least deviation of the middle of all robots that is corrected; the policy compensates smaller ones."""


class MassCorrection(NamedTuple):
    """Correction that a domain makes for flights of vehicles with another weight than assumed."""

    factor: float
    """Mass that the controllers should believe, over the one that they do."""
    tracks: list[RobotTrack]
    """Flights with the commands of controllers that assume the corrected mass."""


def middle_need(found: Sequence[RobotFit]) -> float:
    """Return mass over thrust, each over the file's, in the middle between the robot that needs most and
    the one that needs least.
    """
    lifts = [p.value for robot in found for p in robot.parameters if p.name == "lift_scale"]
    return (1 / min(lifts) + 1 / max(lifts)) / 2 if lifts else 1.0


def believing(folder: Path, scenario: str, factor: float, of: Provenance) -> str:
    """Write a scenario of equal vehicles with controllers that assume `factor` times the mass, and return its file.

    Args:
        folder: folder for it and for the vehicle's file.
        scenario: name or file of the original scenario.
        factor: see `MassCorrection`.
        of: origin of the figures.
    """
    was = load_scenario(scenario)
    data, _ = read_yaml(was.vehicle, "vehicle", vehicles_dir())
    data = data if is_table(data) else {}
    body = table_in(data, "body")
    body["mass_kg"] = round(number_in(body, "mass_kg") * factor, 6)
    if "drag_per_s" in body:  # its force stays
        body["drag_per_s"] = round(number_in(body, "drag_per_s") / factor, 6)
    data.setdefault("sources", {})
    table_in(data, "sources")["body.mass_kg"] = f"{factor:.4g} times as before: {of.line}"
    folder.mkdir(parents=True, exist_ok=True)
    vehicle, file = folder / f"{Path(was.vehicle).stem}.yaml", folder / f"{Path(scenario).stem}.toml"
    vehicle.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120))
    low, high = (end / factor for end in was.randomize.mass_scale)
    base, mass = named_from(folder, scenario), f"mass_scale = [{low:.6g}, {high:.6g}]"
    lines = [f'extends = "{base}"', f'vehicle = "{vehicle.name}"', "[randomize]", mass]
    file.write_text("\n".join(lines) + "\n")
    return str(file)
