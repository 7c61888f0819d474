"""Vehicles: types of robots, read from `hardware_configs/vehicles/NAME.yaml`.

One file feeds the simulator's models, the filter's limits and the node's clipping. Its `kind` says
which class it is, and with it which sections it must have.
"""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from robomarl.core.config import Positive, UserError, build
from robomarl.core.config.parsed import is_table
from robomarl.core.config.versions import migrated
from robomarl.core.hardware.ground import DifferentialDrive, OmniRobot
from robomarl.core.hardware.plausible import check_vehicle
from robomarl.core.hardware.sections import (
    ASSUMED,
    BodyConfig,
    CarrierConfig,
    CommandLossConfig,
    ControlConfig,
    RotorConfig,
    SafetyConfig,
    VehicleBase,
)
from robomarl.core.hardware.versions import VEHICLE_STEPS
from robomarl.core.paths import vehicles_dir
from robomarl.core.tables import read_yaml


@dataclass(frozen=True, kw_only=True)
class Quadrotor(VehicleBase):
    """A flying robot with four rotors. Made by `load_vehicle`."""

    kind: Literal["quadrotor"]
    """Which model and low-level controller apply."""
    body: BodyConfig
    rotors: RotorConfig
    control: ControlConfig
    on_command_loss: CommandLossConfig
    carrier: CarrierConfig | None = None
    """How it flies under a load; none for vehicles that carry nothing."""
    climb_m_s: Positive | None = None
    """Speed of the climb after a take-off, where neither scenario nor fleet file says one."""

    def __post_init__(self) -> None:
        """Check the keys against each other."""
        if len(self.rotors.positions_m) != 4 or len(self.rotors.spin) != 4:
            raise ValueError("rotors.positions_m and rotors.spin must have 4 entries each for a quadrotor.")
        if any(x == 0 or y == 0 for x, y in self.rotors.positions_m):
            raise ValueError("rotors.positions_m must be an X layout: no rotor on a body axis.")
        if self.max_lift_m_s2 < 1.1 * 9.81:
            raise ValueError(
                f"rotors.max_thrust_n lifts only {self.max_lift_m_s2:.2f} m/s^2 with body.mass_kg = "
                f"{self.body.mass_kg:g} kg; it must exceed 10.79."
            )
        if self.on_command_loss.land_after_s <= self.on_command_loss.hover_after_s:
            raise ValueError("on_command_loss.land_after_s must be larger than hover_after_s.")
        off_s = self.on_command_loss.motors_off_after_s
        if off_s is not None and not self.on_command_loss.hover_after_s < off_s < self.on_command_loss.land_after_s:
            raise ValueError("on_command_loss.motors_off_after_s must be between hover_after_s and land_after_s.")

    @cached_property
    def max_lift_m_s2(self) -> float:
        """Largest specific force that the rotors make together."""
        return 4 * self.rotors.max_thrust_n / self.body.mass_kg


Vehicle = Quadrotor
"""Type of vehicle that the simulation's engines fly."""
AnyVehicle = Quadrotor | OmniRobot | DifferentialDrive
KINDS: dict[str, type[AnyVehicle]] = {
    "quadrotor": Quadrotor,
    "omnidirectional": OmniRobot,
    "differential": DifferentialDrive,
}
"""The class of each `kind`."""


def load_vehicle(name: str, estimator: str = "") -> Vehicle:
    """Read a quadrotor as `load_any_vehicle` does; raises `UserError` for a vehicle of another kind, too."""
    vehicle = load_any_vehicle(name, estimator)
    if not isinstance(vehicle, Quadrotor):
        raise UserError(
            f"{Path(name).stem}.yaml: kind = {vehicle.kind!r} does not fly; name a vehicle of kind 'quadrotor' here."
        )
    return vehicle


def load_any_vehicle(name: str, estimator: str = "", asked_by: str = "") -> AnyVehicle:
    """Read a vehicle of any kind by name (of `hardware_configs/vehicles/`) or by the path of a YAML file.

    Args:
        name: name or path.
        estimator: the estimator that flies; empty: the file's choice.
        asked_by: file whose key `estimator` names it, for errors.

    Raises:
        UserError: unknown name, bad YAML, a wrong key or value, a safety figure without a source, or an
            estimator without figures.
    """
    data, file = read_yaml(name, "vehicle", vehicles_dir())
    data = migrated(data, VEHICLE_STEPS, file)
    vehicle = build(_class_of(data, file), data, file)
    _check_sources(vehicle, file)
    for each in (ASSUMED, *(vehicle.estimators or {})):
        flown = _flying(vehicle, each)
        check_vehicle(flown, flown.body, file if each == ASSUMED else f"{file}, estimators.{each}")
    chosen = estimator or vehicle.estimator or ASSUMED
    if chosen != ASSUMED and chosen not in (vehicle.estimators or {}):
        known, by = ", ".join([ASSUMED, *(vehicle.estimators or {})]), f", which {asked_by} names in estimator"
        raise UserError(
            f"{file}: has no bounds of the estimator {chosen!r}{by if asked_by else ''}; measure them and add "
            f"estimators.{chosen}, or name one of {known}."
        )
    return _flying(vehicle, chosen)


def _flying(vehicle: AnyVehicle, estimator: str) -> AnyVehicle:
    """Return the vehicle with the bounds of this estimator, and their source."""
    if estimator == ASSUMED:
        return dataclasses.replace(vehicle, estimator=None)
    part = (vehicle.estimators or {})[estimator]
    keys = {"position_error_m": part.position_error_m, "velocity_error_m_s": part.velocity_error_m_s}
    said = f"{estimator}, {100 * part.quantile:g} % of {part.samples} samples, {part.flights} flights: {part.source}"
    return dataclasses.replace(
        vehicle,
        safety=dataclasses.replace(vehicle.safety, **keys),
        sources={**vehicle.sources, **dict.fromkeys((f"safety.{key}" for key in keys), said)},
        estimator=estimator,
    )


def _class_of(data: object, file: str) -> type[AnyVehicle]:
    kind = data.get("kind") if is_table(data) else "quadrotor"
    if not isinstance(kind, str) or kind not in KINDS:
        known = ", ".join(repr(k) for k in KINDS)
        raise UserError(f"{file}: kind must be one of {known}, not {kind!r}.")
    return KINDS[kind]


def _check_sources(vehicle: AnyVehicle, file: str) -> None:
    """Check that each safety figure states its own source: the filter is only worth as much as its figures."""
    if "safety" in vehicle.sources:
        raise UserError(
            f"{file}: sources: safety speaks for all figures at once; write one source for each, "
            "sources: safety.KEY, and say there how that one was measured."
        )
    for key in dataclasses.fields(SafetyConfig):
        source = vehicle.sources.get(f"safety.{key.name}", "")
        if getattr(vehicle.safety, key.name) is not None and not source.strip():
            raise UserError(
                f"{file}: safety.{key.name} has no source; add sources: safety.{key.name}, "
                f"and say there how it was measured."
            )
