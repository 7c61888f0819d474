"""`predict`: where a vehicle is 0.1, 0.5 and 1 s later, by four models, on trajectories that none of them saw.

All start from motion capture through robomarl's filter, which knows nothing of what comes. The command model knows
the orders of the horizon (tilt and motors), as a planner that sends them does; those of these logs are a controller's,
and so carry what it saw in that time. Its laws are those that were fitted without the flight's trajectory.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robomarl.field.real.law import JudgedLaw
from robomarl.field.real.laws import PITCH, ROLL, followed, force_of
from robomarl.field.real.ridge import held_out, history
from robomarl.field.real.samples import PERIOD_S, UP, FlightSamples, tilt_of

AFTER_S = (0.1, 0.5, 1.0)
BIAS_S = 0.5
EVERY = 10
"""Rows between two starts."""
BACK = (0, 5, 10, 20, 30, 40, 50)
AHEAD = (5, 10, 20, 30, 40, 50)
MODELS = ("constant velocity", "command model", "command model and bias", "and ridge residual")


@dataclass(frozen=True)
class PredictionError:
    """Error of one model after one time, held out."""

    model: str
    after_s: float
    position_rms_m: float
    position_p50_m: float
    velocity_rms_m_s: float
    velocity_p50_m_s: float


@dataclass(frozen=True)
class CommandModel:
    """Laws of the command model, each also fitted without each trajectory."""

    thrust: JudgedLaw
    drag: JudgedLaw
    loops: tuple[JudgedLaw, JudgedLaw]
    """Attitude loops of roll and of pitch."""
    drag_z_per_s: float
    """Drag along z, which logs can't tell."""


@dataclass(frozen=True)
class _Flight:
    """Orders of one flight as the fitted loops follow them. K rows."""

    samples: FlightSamples
    tilt: np.ndarray
    """[K, 2]."""
    force: np.ndarray
    """[K]."""
    yaw: np.ndarray
    """[K]."""
    drag_per_s: np.ndarray
    """[3] body."""


def predict(flights: Sequence[FlightSamples], fitted: CommandModel) -> tuple[PredictionError, ...]:
    """Return the errors of all models, for flights whose orders were logged; none where all are too short."""
    flights = [flight for flight in flights if len(_starts(flight))]
    if not flights:
        return ()
    prepared = [_prepared(flight, fitted) for flight in flights]
    starts = [_starts(flight) for flight in flights]
    biases = [_bias(one, at) for one, at in zip(prepared, starts, strict=True)]
    wrong = [
        np.stack([
            _still(one, at), _rolled(one, at, 0 * bias), _rolled(one, at, bias)
        ])
        for one, at, bias in zip(prepared, starts, biases, strict=True)
    ]  # fmt: skip
    features = [_features(*row) for row in zip(prepared, starts, biases, strict=True)]
    targets = [error[-1].reshape(len(error[-1]), -1) for error in wrong]
    told = held_out(flights, features.__getitem__, targets)
    errors = [
        np.concatenate([error, (target - said).reshape(1, *error.shape[1:])])
        for error, target, said in zip(wrong, targets, told, strict=True)
    ]
    return tuple(_rows(np.concatenate(errors, 1)))


def _prepared(flight: FlightSamples, fitted: CommandModel) -> _Flight:
    """Follow the orders by laws that never saw the flight's trajectory."""
    name, turn = flight.trajectory, flight.true_turn
    loops = [np.array(loop.without[name]) for loop in fitted.loops]
    tilt = [followed(loops[axis], flight.tilt_order_rad[:, axis]) for axis in (ROLL, PITCH)]
    drag = np.array([*fitted.drag.without[name], fitted.drag_z_per_s])
    gain, lag_s = fitted.thrust.without[name]
    force = force_of(gain, lag_s, flight)
    return _Flight(flight, np.stack(tilt, -1), force, np.arctan2(turn[:, 1, 0], turn[:, 0, 0]), drag)


def _starts(flight: FlightSamples) -> np.ndarray:
    longest = round(AFTER_S[-1] / PERIOD_S)
    return np.arange(flight.inner.start + round(BIAS_S / PERIOD_S), flight.inner.stop - longest, EVERY)


def _accelerations(one: _Flight, rows: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """[R, 3] by thrust and weight, without drag."""
    (roll, pitch), force = one.tilt[rows].T, one.force[rows]
    flat = np.stack([np.sin(pitch) * np.cos(roll), -np.sin(roll), np.cos(pitch) * np.cos(roll)], -1)
    x, y = flat[:, 0] * np.cos(yaw) - flat[:, 1] * np.sin(yaw), flat[:, 0] * np.sin(yaw) + flat[:, 1] * np.cos(yaw)
    return np.stack([x, y, flat[:, 2]], -1) * force[:, None] - UP


def _bias(one: _Flight, starts: np.ndarray) -> np.ndarray:
    """[R, 3] acceleration of the last half second that the command model does not explain."""
    rows, back = np.arange(len(one.force)), round(BIAS_S / PERIOD_S)
    speed = one.samples.seen_m_s
    gained = PERIOD_S * np.cumsum(_accelerations(one, rows, one.yaw) - one.drag_per_s * speed, 0)
    return ((speed - gained)[starts] - (speed - gained)[starts - back]) / BIAS_S


def _still(one: _Flight, starts: np.ndarray) -> np.ndarray:
    """[R, H, 6] errors of position and velocity of a constant velocity."""
    place, speed = one.samples.seen_m[starts], one.samples.seen_m_s[starts]
    states = [np.concatenate([place + after * speed, speed], -1) for after in AFTER_S]
    return np.stack(states, 1) - _true(one, starts)


def _rolled(one: _Flight, starts: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """[R, H, 6] errors of the command model."""
    place, speed, yaw = one.samples.seen_m[starts], one.samples.seen_m_s[starts], one.yaw[starts]
    kept = []
    for step in range(1, round(AFTER_S[-1] / PERIOD_S) + 1):
        push = _accelerations(one, starts + step, yaw) - one.drag_per_s * speed + bias
        place, speed = place + PERIOD_S * (speed + 0.5 * PERIOD_S * push), speed + PERIOD_S * push
        if step in [round(after / PERIOD_S) for after in AFTER_S]:
            kept.append(np.concatenate([place, speed], -1))
    return np.stack(kept, 1) - _true(one, starts)


def _true(one: _Flight, starts: np.ndarray) -> np.ndarray:
    rows = [starts + round(after / PERIOD_S) for after in AFTER_S]
    return np.stack([np.concatenate([one.samples.true_m[at], one.samples.true_m_s[at]], -1) for at in rows], 1)


def _features(one: _Flight, starts: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """[R, N] motion, accelerometer, voltages and orders of the last half second, and orders of the next one."""
    flight, tilt = one.samples, tilt_of(one.samples.true_turn)
    orders = np.c_[flight.tilt_order_rad, one.force]
    before = np.concatenate([flight.seen_m_s, flight.seen_m, tilt, orders, flight.gyro_rad_s], -1)
    now = np.concatenate([flight.seen_m_s, flight.seen_m, 0 * tilt, 0 * orders, 0 * flight.gyro_rad_s], -1)[starts]
    past = history(before, starts, BACK) - np.tile(now, len(BACK))
    felt = history(np.c_[flight.force_m_s2, flight.voltage, flight.battery_v], starts, BACK)
    coming = np.concatenate([orders[starts + step] for step in AHEAD], -1)
    return np.concatenate([past, felt, coming, bias, flight.seen_m_s[starts], (tilt - one.tilt)[starts]], -1)


def _rows(errors: np.ndarray) -> list[PredictionError]:
    """Rows of errors [M, R, H, 6]."""
    place, speed = (np.linalg.norm(errors[..., part], axis=-1) for part in (slice(0, 3), slice(3, 6)))
    return [
        PredictionError(model, after, _rms(place[m, :, h]), float(np.median(place[m, :, h])), _rms(speed[m, :, h]),
                  float(np.median(speed[m, :, h])))
        for m, model in enumerate(MODELS)
        for h, after in enumerate(AFTER_S)
    ]  # fmt: skip


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt((values**2).mean()))
