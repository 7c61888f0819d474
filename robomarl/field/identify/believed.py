"""Vehicles that are heavier than their low-level controllers believe, and the same flights by controllers that know.

A payload takes lift that the policy's commands have not to give: of 2.9 m/s^2 that a vehicle may command, a mass 30 %
larger than its file's takes all. The share of it that all robots have is no matter of the policy; the vehicle's file
takes it up, and so must the firmware.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from robomarl.core.paths import vehicles_dir
from robomarl.core.tables import read_yaml
from robomarl.field.identify.patch import Provenance, named_from
from robomarl.field.identify.robot_fit import RobotFit
from robomarl.field.track import RobotTrack
from robomarl.lab.sim.scenario import load_scenario

LEAST = 0.05
"""By how much the middle of all robots must be off; what is less the policy makes good."""


class MassCorrection(NamedTuple):
    """What a domain says of flights of vehicles whose weight is off."""

    factor: float
    """Mass that the controllers should believe, over the one that they do."""
    tracks: list[RobotTrack]
    """The same flights: commands as they would have been of controllers that believe it."""


def middle_need(found: Sequence[RobotFit]) -> float:
    """Mass over thrust, each over the file's, in the middle between the robot that needs most and that which least."""
    lifts = [p.value for robot in found for p in robot.parameters if p.name == "lift_scale"]
    return (1 / min(lifts) + 1 / max(lifts)) / 2 if lifts else 1.0


def believing(folder: Path, scenario: str, factor: float, of: Provenance) -> str:
    """A scenario with the same vehicles, whose controllers believe `factor` times the mass; returns its file.

    Args:
        folder: for it and for the vehicle's file.
        scenario: name or file of the other.
        factor: see `MassCorrection`.
        of: where it comes from.
    """
    was = load_scenario(scenario)
    data, _ = read_yaml(was.vehicle, "vehicle", vehicles_dir())
    body = data["body"]
    body["mass_kg"] = round(body["mass_kg"] * factor, 6)
    if "drag_per_s" in body:  # its force stays
        body["drag_per_s"] = round(body["drag_per_s"] / factor, 6)
    data.setdefault("sources", {})["body.mass_kg"] = f"{factor:.4g} times as before: {of.line}"
    folder.mkdir(parents=True, exist_ok=True)
    vehicle, file = folder / f"{Path(was.vehicle).stem}.yaml", folder / f"{Path(scenario).stem}.toml"
    vehicle.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120))
    low, high = (end / factor for end in was.randomize.mass_scale)
    base, mass = named_from(folder, scenario), f"mass_scale = [{low:.6g}, {high:.6g}]"
    lines = [f'extends = "{base}"', f'vehicle = "{vehicle.name}"', "[randomize]", mass]
    file.write_text("\n".join(lines) + "\n")
    return str(file)
