"""`join_poses`: poses of motion capture in a file of their own, on the clock of a vehicle's log.

The clocks may differ by any constant: one counts from the vehicle's start, the other from the first of January 1970.
Where the gyroscope (or the accelerometer) correlates best with what the poses say of it, the clocks agree. Drift is
left to `robomarl.field.real.align`.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.signal import correlate, savgol_filter

from robomarl.core.config import UserError
from robomarl.core.geometry import quat_conjugate, quat_multiply, rotate
from robomarl.field.logs.logged_flight import GRAVITY_M_S2

STEP_S = 0.01
SMOOTHED = 21
"""Steps of the local parabola that smooths both signals alike."""
NEAR_S = 3.0
"""Time over which the size of a signal is taken."""
LEAST_LIKENESS = 0.45
"""Least correlation of the two signals where they agree best. Public flights have 0.56 to 0.9, and the poses of
another flight at most 0.35."""
ELSEWHERE_S, AMBIGUOUS = 0.5, 0.97
"""A shift that is further away and this much as good is another answer: a flight that repeats itself."""


class TimedPoses(NamedTuple):
    """Poses by motion capture, SI units, z up."""

    time_s: np.ndarray
    """[M] by the clock of motion capture."""
    pos_m: np.ndarray
    """[M, 3]."""
    quat: np.ndarray
    """[M, 4] wxyz, body to world."""


class TimedImu(NamedTuple):
    """Gyroscope and accelerometer of a log, each [K, 3] in the body, or [K, 0]."""

    time_s: np.ndarray
    """[K] by the clock of the vehicle."""
    gyro_rad_s: np.ndarray
    force_m_s2: np.ndarray


def join_poses(files: tuple[Path, Path], imu: TimedImu, poses: TimedPoses) -> tuple[slice, TimedPoses]:
    """Return the rows of the log that have poses, and the poses at these rows.

    Args:
        files: the log and the file of the poses, for errors.
        imu: sensors of the log.
        poses: the poses.

    Raises:
        UserError: the two are not of one flight, or its clocks can't be told.
    """
    kept = poses.time_s + later_s(files, imu, poses)
    rows = np.flatnonzero((imu.time_s >= kept[0]) & (imu.time_s <= kept[-1]))
    part = slice(int(rows[0]), int(rows[-1]) + 1)
    at_s = imu.time_s[part]
    quat = _between(at_s, kept, _continuous(poses.quat))
    size = np.linalg.norm(quat, axis=-1, keepdims=True)
    return part, TimedPoses(at_s, _between(at_s, kept, poses.pos_m), quat / np.maximum(size, 1e-9))


def later_s(files: tuple[Path, Path], imu: TimedImu, poses: TimedPoses) -> float:
    """Return how much later [s] the vehicle's clock is than that of motion capture.

    Raises:
        UserError: the signals agree nowhere, or at several shifts.
    """
    log_s, pose_s = (np.arange(t[0], t[-1], STEP_S) for t in (imu.time_s, poses.time_s))
    seen, said = _channels(imu, poses, log_s, pose_s)
    score = np.sum([correlate(a, b, "full", "fft") for a, b in zip(seen.T, said.T, strict=True)], 0)
    shifts = np.arange(len(score)) - (len(pose_s) - 1)
    best = int(np.argmax(score))
    first, last = max(shifts[best], 0), min(shifts[best] + len(pose_s), len(log_s))
    one, other = seen[first:last], said[first - shifts[best] : last - shifts[best]]
    alike = float((one * other).sum() / max(np.sqrt((one**2).sum() * (other**2).sum()), 1e-12))
    if last - first < SMOOTHED or alike < LEAST_LIKENESS:
        raise UserError(
            f"{files[0]}: its gyroscope or accelerometer and the poses of {files[1].name} are alike to {alike:.0%} at "
            "best; name the poses of this flight, and see to quaternion (body to world, w first) and truth.frame."
        )
    far = np.abs(np.arange(len(score)) - best) > ELSEWHERE_S / STEP_S
    if (second := float(score[far].max(initial=0.0))) > AMBIGUOUS * score[best]:
        other_s = STEP_S * abs(int(np.flatnonzero(far & (score == second))[0]) - best)
        raise UserError(
            f"{files[0]}: its clock and that of {files[1].name} can't be aligned, as the flight repeats itself after "
            f"{other_s:.1f} s; log take-off and landing, too."
        )
    return float(log_s[0] - pose_s[0] + STEP_S * (shifts[best] + _peak(score, best)))


def _peak(score: np.ndarray, best: int) -> float:
    """Place of the maximum between samples, from the best one, by a parabola."""
    if not 0 < best < len(score) - 1:
        return 0.0
    before, here, after = score[best - 1 : best + 2]
    bend = before - 2 * here + after
    return float((before - after) / (2 * bend)) if bend < 0 else 0.0


def _channels(imu: TimedImu, poses: TimedPoses, log_s: np.ndarray, pose_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Signals of the log [N, C] and of the poses [M, C] on even grids, smoothed, less their means and in one unit."""
    quat = _between(pose_s, poses.time_s, _continuous(poses.quat))
    quat /= np.maximum(np.linalg.norm(quat, axis=-1, keepdims=True), 1e-9)
    seen, said = [], []
    if imu.gyro_rad_s.shape[1]:
        turned = quat_multiply(quat_conjugate(quat[:-2]), quat[2:])
        rates = np.where(turned[:, :1] < 0, -1, 1) * turned[:, 1:] / STEP_S
        seen.append(_between(log_s, imu.time_s, imu.gyro_rad_s))
        said.append(np.concatenate([rates[:1], rates, rates[-1:]]))
    else:
        place = _between(pose_s, poses.time_s, poses.pos_m)
        push = np.asarray(savgol_filter(place, SMOOTHED, 3, deriv=2, delta=STEP_S, axis=0))
        seen.append(_between(log_s, imu.time_s, imu.force_m_s2))
        said.append(rotate(quat_conjugate(quat), push + np.array([0.0, 0.0, GRAVITY_M_S2])))
    return _even(np.concatenate(seen, -1)), _even(np.concatenate(said, -1))


def _even(values: np.ndarray) -> np.ndarray:
    """Smoothed signals [N, C], less their means and by their size within some seconds, all axes alike.

    Poses that stand still while the vehicle turns over on the ground, or a hard landing, would outweigh a flight.
    """
    smooth = np.asarray(savgol_filter(values - np.median(values, 0), SMOOTHED, 2, axis=0))
    square = uniform_filter1d((smooth**2).mean(-1), round(NEAR_S / STEP_S))
    return smooth / np.sqrt(square + np.median(square))[:, None]


def _between(at_s: np.ndarray, knots_s: np.ndarray, values: np.ndarray) -> np.ndarray:
    """[K, C] at times [K], linear between values [N, C] at times [N]."""
    return np.stack([np.interp(at_s, knots_s, column) for column in values.T], -1)


def _continuous(quat: np.ndarray) -> np.ndarray:
    """[M, 4] with signs that never jump."""
    flips = np.where((quat[1:] * quat[:-1]).sum(-1) < 0, -1.0, 1.0)
    return quat * np.cumprod(np.concatenate([[1.0], flips]))[:, None]
