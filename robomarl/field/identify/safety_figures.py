"""Safety filter figures from recorded flights, by the containment that `identify-limits` looks for.

Estimates have noise, which is no acceleration: changes of velocity may be off by twice the largest
error of an estimate beyond the model, besides the tolerance of `robomarl.field.limits`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.hardware.sections import SafetyConfig
from robomarl.core.hardware.vehicle import AnyVehicle, Quadrotor
from robomarl.field.identify.robot_fit import RobotFit
from robomarl.field.identify.windows import SETTLE
from robomarl.field.limits.fit import Window, constant_part, directions, pieces_of, steepest, swept
from robomarl.field.limits.measure import MeasureConfig, round_up
from robomarl.lab.plants.flight import Flights

MARGIN = MeasureConfig().margin


class SafetyFigure(NamedTuple):
    """One key of the section `safety`."""

    name: str
    measured: float
    file: float
    """Value in the vehicle's file."""
    value: float
    """Value for the file: the measured one with its margin, and never less than the file has."""
    unit: str = "m/s^2"


def safety_figures(vehicle: AnyVehicle, found: Sequence[RobotFit]) -> list[SafetyFigure]:
    """Return the figures that the flights of all robots need."""
    safety, planar = vehicle.safety, not isinstance(vehicle, Quadrotor)
    noise = {name: max(r.high for f in found for r in f.parameters if r.name == name)
             for name in ("position_noise_m", "velocity_noise_m_s")}  # fmt: skip
    config = MeasureConfig()
    tolerance = config.tolerance_m_s + 2 * noise["velocity_noise_m_s"]
    flown = [flights_of(robot) for robot in found]
    biases = [constant_part(flights, planar) for flights, _ in flown]
    delays = sorted({*config.delays_s, safety.delay_s})
    errors = np.array([
        max(error_needed(*one, bias, config.window(delay), (planar, tolerance))
            for one, bias in zip(flown, biases, strict=True))
        for delay in delays
    ])  # fmt: skip
    fits = np.flatnonzero(MARGIN * errors <= safety.accel_error_m_s2 + 1e-9)
    at = int(fits[0]) if len(fits) else int(errors.argmin())
    used = max(at, delays.index(safety.delay_s)) if len(fits) else at
    rows = [("delay_s", delays[at], 1.0, "s"), ("accel_error_m_s2", errors[used], MARGIN, "m/s^2"),
            ("accel_bias_m_s2", max(np.abs(b[:2]).max() for b in biases), MARGIN, "m/s^2"),
            ("position_error_m", noise["position_noise_m"], MARGIN, "m"),
            ("velocity_error_m_s", noise["velocity_noise_m_s"], MARGIN, "m/s")]  # fmt: skip
    if not planar:
        rows.append(("lift_bias_m_s2", max(abs(b[2]) for b in biases), MARGIN, "m/s^2"))
    figures = [_figure(safety, *row) for row in rows]
    return [*figures, brake_figure(vehicle, {figure.name: figure.value for figure in figures})]


def _figure(safety: SafetyConfig, name: str, measured: float, margin: float, unit: str) -> SafetyFigure:
    file = getattr(safety, name)
    file = safety.accel_bias_m_s2 if file is None else file  # of lift_bias_m_s2, which may be left out
    needed = measured if margin == 1.0 else _up(margin * measured)
    return SafetyFigure(name, float(measured), file, max(file, float(needed)), unit)


def brake_figure(vehicle: AnyVehicle, new: dict[str, float]) -> SafetyFigure:
    """Return the brake that the box of commands still holds beyond the new error and biases, at most the file's.

    Raises:
        UserError: nothing is left.
    """
    limits, file = vehicle.limits, vehicle.safety.brake_m_s2
    sides = [min(-low, high) for low, high in zip(limits.accel_min_m_s2, limits.accel_max_m_s2, strict=True)]
    biases = [new["accel_bias_m_s2"]] * 2 + ([new["lift_bias_m_s2"]] if "lift_bias_m_s2" in new else [])
    left = min(side - bias for side, bias in zip(sides, biases, strict=False)) - new["accel_error_m_s2"]
    if left <= 0:
        raise UserError(
            f"{vehicle.name}: these flights need accel_error_m_s2 = {new['accel_error_m_s2']:g} and biases that leave "
            "nothing of the limits to brake with; identify vehicles that are alike, or widen the limits."
        )
    return SafetyFigure("brake_m_s2", file, file, min(file, math.floor(100 * left + 1e-9) / 100))


def _up(value: float) -> float:
    """Round up to two digits; below a tenth to thousandths."""
    return round_up(value) if value >= 0.1 else float(np.ceil(1000 * value - 1e-9) / 1000)


def flights_of(robot: RobotFit) -> tuple[Flights, int]:
    """Return a robot's windows as flights, and the number of decisions at their start that only give earlier
    commands.
    """
    windows = robot.windows
    sent = windows.command[:, :, -1, :3]  # the newest one that was sent before the next estimate
    state = windows.state
    period_s = float(np.median(windows.period_s))
    pos, vel = (state[..., part].transpose(1, 0, 2) for part in (slice(0, 3), slice(7, 10)))
    return Flights(sent.transpose(1, 0, 2), pos, vel, period_s), SETTLE


def error_needed(flights: Flights, lead: int, bias: np.ndarray, window: Window, how: tuple[bool, float]) -> float:
    """Return the least w [m/s^2] with which the filter's model contains these flights; see
    `robomarl.field.limits.fit`.

    Args:
        flights: flights of one robot.
        lead: decisions at the start of each that are not compared.
        bias: [3] constant part.
        window: window of the delays.
        how: True if the vehicle moves in the plane, and the tolerance of a change of velocity [m/s].
    """
    (planar, tolerance), pieces = how, pieces_of(window, flights.period_s)
    vel, worst = flights.vel_m_s[lead:], 0.0
    for n in directions(planar):
        gained = (vel - vel[0]) @ n
        explained = np.cumsum(swept(flights.command @ n, pieces)[lead:], 0)
        rate = steepest(gained - np.concatenate([explained[:1] * 0, explained]), flights.period_s, tolerance)
        worst = max(worst, rate - float(n @ bias))
    return worst
