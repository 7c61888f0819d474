"""`TeamScenario`: what every scenario file says; a kind of team adds its sections to a subclass."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from robomarl.config import Count, Positive
from robomarl.hardware_configs.field import DeploymentConfig
from robomarl.hardware_configs.vehicle import AnyVehicle, load_any_vehicle
from robomarl.sim.clock import Clock, RateConfig
from robomarl.sim.radio import RadioConfig


@dataclass(frozen=True)
class NothingRandomized:
    """A section `randomize` without keys."""


@dataclass(frozen=True, kw_only=True)
class TeamScenario(Clock):
    """One scenario and its vehicle."""

    version: Literal[1]
    """Version of the file's layout."""
    task: str
    """Leads to the domain."""
    vehicle: str
    """Name or path of the vehicle file."""
    count: Count
    """Robots in the team."""
    time_limit_s: Positive
    """Length of an episode."""
    rates: RateConfig
    radio: RadioConfig
    """Everybody hears everybody, one decision late: `latency_s` is one period."""
    name: str = ""
    """The name that it was loaded by."""
    field: DeploymentConfig = DeploymentConfig()
    """How a test in the field begins."""
    randomize: NothingRandomized = NothingRandomized()
    """What is drawn anew is the domain's own affair."""
    held_out: dict[str, dict[str, float]] = dataclasses.field(default_factory=dict)
    """Likewise."""

    @cached_property
    def vehicle_config(self) -> AnyVehicle:
        """The vehicle file."""
        return load_any_vehicle(self.vehicle)

    @property
    def randomized(self) -> tuple[str, ...]:
        """Nothing can be perturbed."""
        return ()

    def __post_init__(self) -> None:
        """Check what one key alone cannot show."""
        self.check_rates()
        if abs(self.radio.latency_s - self.period_s) > 1e-6:
            raise ValueError(f"radio.latency_s = {self.radio.latency_s:g} must be one period, {self.period_s:g} s.")
