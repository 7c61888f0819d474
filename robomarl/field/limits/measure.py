"""Conversion of flights to the figures of a vehicle file: a frontier of delays and errors, a choice,
margins and a verdict.
"""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.core.hardware.sections import DELAY_SPREAD, LimitConfig, SafetyConfig
from robomarl.core.hardware.vehicle import AnyVehicle, Quadrotor
from robomarl.field.limits.braking import held_deceleration, overshoot
from robomarl.field.limits.fit import TOLERANCE_M_S, Window, constant_part, error_needed
from robomarl.lab.plants.conditions import Condition
from robomarl.lab.plants.excite import ExciteConfig, brakings, excitations
from robomarl.lab.plants.flight import Plant, fly
from robomarl.lab.plants.plants import make_plant
from robomarl.lab.sim.scenario import Scenario

BRAKE_S = 1.5
"""How long a braking lasts."""
GRID_S = tuple(round(0.02 * i, 2) for i in range(2, 17))
"""Delays that are tried."""


@dataclass(frozen=True)
class MeasureConfig:
    """How a vehicle is measured."""

    excite: ExciteConfig = ExciteConfig()
    delays_s: tuple[float, ...] = GRID_S
    """Late ends that are tried."""
    early_s: float | None = None
    """Early end of the window; None: half of the late one, as docs/safety.md has it."""
    tolerance_m_s: float = TOLERANCE_M_S
    """Tolerance of a change of velocity beyond the model."""
    margin: float = 1.15
    """Factor on every figure for the file."""

    def window(self, delay_s: float) -> Window:
        """Return the window from the earliest effect to the latest."""
        return Window(DELAY_SPREAD * delay_s if self.early_s is None else self.early_s, delay_s)


class Figures(NamedTuple):
    """Figures that one condition needs."""

    condition: Condition
    bias_m_s2: np.ndarray
    """[3]."""
    error_m_s2: np.ndarray
    """[D] w at each delay."""
    brake_m_s2: np.ndarray
    """[D] deceleration held from each delay on."""
    overshoot_m_s: float
    """Speed gained while braking."""


@dataclass(frozen=True)
class Rig:
    """One scenario's plants, compiled once."""

    flying: Plant
    braking: Plant
    limits: LimitConfig
    planar: bool
    config: MeasureConfig


def make_rig(scenario: Scenario, vehicle: AnyVehicle, config: MeasureConfig) -> Rig:
    """The plants of a scenario that the vehicle is in."""
    planar, limits = not isinstance(vehicle, Quadrotor), vehicle.limits
    flights = excitations(limits, scenario.period_s, planar, config.excite).command.shape[1]
    stops = brakings(limits, scenario.period_s, planar, 1.0, BRAKE_S).command.shape[1]
    flying, braking = (make_plant(scenario, n, config.excite.seed) for n in (flights, stops))
    return Rig(flying, braking, limits, planar, config)


def measure_condition(rig: Rig, condition: Condition) -> Figures:
    """Fly everything once and fit it."""
    limits, planar, config = rig.limits, rig.planar, rig.config
    period_s, tolerance = rig.flying.period_s, config.tolerance_m_s
    flown = fly(rig.flying, condition, excitations(limits, period_s, planar, config.excite), limits)
    room = half_width(limits, planar)
    stops = fly(rig.braking, condition, brakings(limits, period_s, planar, room, BRAKE_S), limits)
    bias = constant_part(flown, planar)
    errors = [error_needed(flown, bias, config.window(d), planar, tolerance) for d in config.delays_s]
    brakes = [held_deceleration(stops, d + period_s, tolerance) for d in config.delays_s]
    return Figures(condition, bias, np.array(errors), np.array(brakes), overshoot(stops))


def half_width(limits: LimitConfig, planar: bool) -> float:
    """Largest acceleration [m/s^2] that the box of commands holds in every direction."""
    sides = list(zip(limits.accel_min_m_s2, limits.accel_max_m_s2, strict=True))
    return min(min(-low, high) for low, high in sides[: 2 if planar else 3])


def chosen(config: MeasureConfig, found: Sequence[Figures], error_m_s2: float) -> int:
    """Index of the smallest delay that needs no larger error than this with its margin.

    Where there is none: of the smallest one that needs about the least error of all.
    """
    frontier = np.max([f.error_m_s2 for f in found], 0)
    fits = np.flatnonzero(config.margin * frontier <= error_m_s2 + 1e-9)
    return int(fits[0]) if len(fits) else int(np.flatnonzero(frontier <= 1.02 * frontier.min())[0])


class LimitFigure(NamedTuple):
    """One figure of a vehicle file."""

    name: str
    measured: float
    low: float
    """Least over the conditions."""
    high: float
    """Largest over the conditions."""
    value: float
    """Value for the file, with margin."""
    file: float
    """Value in the file now."""
    covered: bool
    """True if the file's figure is enough for the measured one, at the file's delay."""
    unit: str = "m/s^2"


def rows(vehicle: AnyVehicle, config: MeasureConfig, found: Sequence[Figures], at: int) -> list[LimitFigure]:
    """The figures at a delay of `config.delays_s`, and whether the file's hold at the file's own delay.

    Without the brake of a vehicle so slow that it stands before the delay is over.
    """
    safety, margin, own = vehicle.safety, config.margin, _nearest(config.delays_s, vehicle.safety.delay_s)
    bias = np.abs([f.bias_m_s2 for f in found])
    errors, brakes = (np.array([getattr(f, name) for f in found]) for name in ("error_m_s2", "brake_m_s2"))
    lift = safety.accel_bias_m_s2 if safety.lift_bias_m_s2 is None else safety.lift_bias_m_s2
    holds = bool(errors[:, own].max() <= safety.accel_error_m_s2)
    delay_s = config.delays_s[at]
    table = [
        LimitFigure("delay_s", delay_s, delay_s, delay_s, delay_s, safety.delay_s, holds, "s"),
        _upper("accel_error_m_s2", errors[:, at], safety.accel_error_m_s2, margin)._replace(covered=holds),
        _upper("accel_bias_m_s2", bias[:, :2].max(1), safety.accel_bias_m_s2, margin),
        _upper("lift_bias_m_s2", bias[:, 2], lift, margin),
    ]
    held = brakes[:, at]
    enough = bool(brakes[:, own].min() >= safety.brake_m_s2)
    brake = round_down(held.min() / margin) if np.isfinite(held.min()) else math.inf
    table.append(LimitFigure("brake_m_s2", held.min(), held.min(), held.max(), brake, safety.brake_m_s2, enough))
    has_lift = isinstance(vehicle, Quadrotor)
    return [row for row in table if math.isfinite(row.measured) and (has_lift or row.name != "lift_bias_m_s2")]


def _nearest(delays_s: Sequence[float], delay_s: float) -> int:
    return int(np.argmin(np.abs(np.array(delays_s) - delay_s)))


def _upper(name: str, each: np.ndarray, file: float, margin: float) -> LimitFigure:
    most = float(each.max())
    return LimitFigure(name, most, float(each.min()), most, round_up(margin * most), file, most <= file)


def round_up(value: float) -> float:
    """Round to two digits, away from 0; 0.01 at the least."""
    digits = 1 - math.floor(math.log10(max(abs(value), 0.1)))
    return round(math.ceil(value * 10**digits - 1e-9) / 10**digits, digits)


def round_down(value: float) -> float:
    """Round to two digits, downwards."""
    return -round_up(-value) if value else 0.0


def for_file(config: MeasureConfig, safety: SafetyConfig) -> MeasureConfig:
    """Return the configuration with the file's own delay among those that are tried."""
    return dataclasses.replace(config, delays_s=tuple(sorted({*config.delays_s, safety.delay_s})))


def measure(rigs: Sequence[tuple[Rig, Sequence[Condition]]]) -> Iterator[Figures]:
    """Yield the figures of every condition on its rig, in sequence."""
    for rig, conditions in rigs:
        for condition in conditions:
            yield measure_condition(rig, condition)
