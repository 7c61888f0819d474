"""Command kinds of a carrier vehicle: the section `command` of a scenario file.

One kind is flown: accelerations with body rates. The remaining kinds exist for comparison, as in
the ablation of Zeng et al. (CoRL 2025). The safety filter and the nodes do not support them.
"""

from dataclasses import dataclass
from typing import Literal

from robomarl.core.config import Positive, UserError
from robomarl.core.hardware.vehicle import Vehicle

Element = tuple[str, str, str]
"""Name, unit, frame."""
FLOWN = "acceleration_rates"


def _axes(name: str, unit: str) -> tuple[Element, ...]:
    return tuple((f"{name}.{axis}", unit, "world") for axis in "xyz")


_RATES: tuple[Element, ...] = (("rate.x", "rad/s", "body"), ("rate.y", "rad/s", "body"))
_LINEAR: dict[str, tuple[Element, ...]] = {
    FLOWN: _axes("acceleration", "m/s^2"),
    "acceleration": _axes("acceleration", "m/s^2"),
    "velocity": _axes("velocity", "m/s"),
    "thrust_rates": (("thrust", "m/s^2", "body"),),
}


@dataclass(frozen=True)
class CommandConfig:
    """Kind of command that a decision yields, and its conversion by the low-level controller; see
    `robomarl.domains.flight.core.control.indi`.
    """

    kind: Literal["acceleration_rates", "acceleration", "velocity", "thrust_rates"] = FLOWN
    """Kind of command. acceleration_rates: acceleration in the world frame, with roll and pitch rate as
    feed-forward; acceleration: as before without rates; velocity: in the world frame, an acceleration follows
    from the velocity error; thrust_rates: collective thrust over mass, roll and pitch rate, and nothing levels
    the vehicle or accounts for the cable.
    """
    velocity_per_s: Positive = 3.0
    """velocity: acceleration over velocity error, within the vehicle's limits."""
    speed_m_s: Positive = 1.5
    """velocity: largest, each axis."""
    rate_rad_s: Positive = 3.0
    """thrust_rates: largest roll and pitch rate."""

    @property
    def rates_from(self) -> int:
        """Index of the first body rate in a command; the command's length if it has no rates."""
        return len(_LINEAR[self.kind])

    @property
    def elements(self) -> tuple[Element, ...]:
        """Elements of a command, in order."""
        return _LINEAR[self.kind] + (_RATES if self.kind.endswith("_rates") else ())

    def limits(self, vehicle: Vehicle, hover_m_s2: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Least and largest command.

        Args:
            vehicle: its own limits hold for accelerations and for rates that are a feed-forward.
            hover_m_s2: thrust over mass of a vehicle that hovers with its part of the load: the middle of thrusts.
        """
        low, high = vehicle.limits.accel_min_m_s2, vehicle.limits.accel_max_m_s2
        rate = vehicle.carrier.body_rate_rad_s if vehicle.carrier else vehicle.limits.yaw_rate_rad_s
        if self.kind == "velocity":
            low, high = (-self.speed_m_s,) * 3, (self.speed_m_s,) * 3
        if self.kind == "thrust_rates":
            room = min(hover_m_s2, vehicle.max_lift_m_s2 - hover_m_s2)
            low, high, rate = (hover_m_s2 - room,), (hover_m_s2 + room,), self.rate_rad_s
        rates = (rate,) * (len(self.elements) - self.rates_from)
        return (*low, *(-r for r in rates)), (*high, *rates)

    def at_rest(self, hover_m_s2: float) -> tuple[float, ...]:
        """The command that was in force before the first one: nothing, but for a thrust that of hovering."""
        linear = (hover_m_s2,) if self.kind == "thrust_rates" else (0.0,) * self.rates_from
        return (*linear, *(0.0 for _ in self.elements[self.rates_from :]))

    def must_be_flown(self, scenario: str, who: str) -> None:
        """Raise `UserError` if the command kind of this scenario is not the flown one, which the named component
        requires.
        """
        if self.kind != FLOWN:
            raise UserError(
                f"{scenario}.toml: command.kind = {self.kind!r}, but {who} knows {FLOWN!r} only; leave the key out, "
                "or do without (--filter off)."
            )
