"""`Clock`: what follows from a scenario's rates and time limit."""

from dataclasses import dataclass
from typing import Protocol

from robomarl.config import Positive


@dataclass(frozen=True)
class RateConfig:
    """How often things happen."""

    policy_hz: Positive
    """Decisions per second."""
    physics_hz: Positive
    """Sub-steps of the physics and of the low-level controller per second; a multiple of `policy_hz`."""


class Rates(Protocol):
    """Any section `rates`."""

    @property
    def policy_hz(self) -> float:
        """Decisions per second."""
        ...

    @property
    def physics_hz(self) -> float:
        """Sub-steps of the physics per second."""
        ...


class Timed(Protocol):
    """What `Clock` is mixed into."""

    @property
    def rates(self) -> Rates:
        """How often things happen."""
        ...

    @property
    def time_limit_s(self) -> float:
        """Length of an episode or a match."""
        ...


class Clock:
    """Periods and counts, for every kind of scenario."""

    @property
    def period_s(self: Timed) -> float:
        """Time between two decisions."""
        return 1.0 / self.rates.policy_hz

    @property
    def substeps(self: Timed) -> int:
        """Physics steps per decision."""
        return round(self.rates.physics_hz / self.rates.policy_hz)

    @property
    def physics_dt_s(self: Timed) -> float:
        """Length of one physics step."""
        return 1.0 / self.rates.physics_hz

    def check_rates(self: Timed) -> None:
        """Raise `ValueError` unless a decision has a whole number of physics steps."""
        physics, policy = self.rates.physics_hz, self.rates.policy_hz
        if abs(physics / policy - round(physics / policy)) > 1e-6:
            raise ValueError(f"rates.physics_hz = {physics:g} must be a multiple of policy_hz = {policy:g}.")

    @property
    def max_steps(self: Timed) -> int:
        """Decisions in an episode or a match."""
        return round(self.time_limit_s * self.rates.policy_hz)
