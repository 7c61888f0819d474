"""Mistakes of frames and units that data of a vehicle show by themselves, before its first flight.

Every mistake here is a function that undoes it. A track as received and a track with each mistake
undone are measured by four laws: velocity is the change of position, the rates are the change of
attitude, an accelerometer measures acceleration less gravity, a multirotor in the air is pushed
along its own z axis. If the received track breaks a law and the track with one mistake undone
breaks none, that mistake is named.

Limits of the data are reported too: a vehicle at rest shows no law but gravity's, and that only
with its accelerometer. Position, velocity and attitude of a mirrored world obey all laws until a
gyroscope is beside them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import quat_conjugate, quat_multiply, rotate, rotation_matrix
from robomarl.core.types import GRAVITY_M_S2
from robomarl.vehicles.conversion.frames import swap_attitude, swap_body, swap_world, wxyz

KEEPS = 0.25
"""Error as a fraction of the motion, below which a track keeps a law."""
BREAKS = 0.5
"""Error as a fraction of the motion, above which a track breaks a law."""
CALM_S = 0.2
"""Time [s] over which noise is averaged; a track must be some times longer."""
MOVES_M_S = 0.15
"""An axis that is slower (root of the mean square) shows no law of velocities."""
TURNS_RAD_S = 0.15
"""Likewise of rates."""
PUSHED_M_S2 = 0.7
"""Less horizontal acceleration shows nothing of the push along the body's z axis."""


@dataclass(frozen=True)
class StateTrack:
    """A vehicle's reports on itself over a few seconds, as they would be flown: ENU, FLU, wxyz, SI."""

    time_s: np.ndarray
    """[T] rising."""
    pos_m: np.ndarray
    """[T, 3] world."""
    vel_m_s: np.ndarray
    """[T, 3] world."""
    quat_wxyz: np.ndarray
    """[T, 4] body to world."""
    omega_rad_s: np.ndarray
    """[T, 3] body, of the gyroscope."""
    force_m_s2: np.ndarray | None = None
    """[T, 3] body: specific force, of the accelerometer; None without. At rest it is (0, 0, +9.81)."""
    flies: bool = False
    """True for a multirotor in the air, which its rotors push."""


class Findings(NamedTuple):
    """Findings from a track."""

    problem: str
    """One sentence; "" where nothing is wrong."""
    unjudged: tuple[str, ...]
    """Laws that the track could not show."""


VELOCITY, RATES, GRAVITY, PUSH = (
    "velocity against position",
    "rates against attitude",
    "gravity",
    "tilt against acceleration",
)


def judged(track: StateTrack) -> Findings:
    """Return the problem of a track, with the name of a mistake that explains it."""
    came = errors(track)
    unjudged = tuple(law + _axes(np.isnan(error)) for law, error in came.items() if np.isnan(error).any())
    broken = [law + _axes(error > BREAKS) for law, error in came.items() if (error > BREAKS).any()]
    if not broken:
        return Findings("", unjudged)
    left = [(_left(came, errors(undo(track))), name) for name, undo in MISTAKES.items()]
    names = " or ".join(name for worst, name in sorted(left) if worst < KEEPS)
    laws = " and ".join(broken)
    return Findings(
        f"{names} ({laws} do not agree)" if names else f"{laws} do not agree, for no known reason", unjudged
    )


def errors(track: StateTrack) -> dict[str, np.ndarray]:
    """Return the root-mean-square error over that of the motion, by law [axes]; NaN if the track can't show it."""
    calm = partial(smoothed, track.time_s)
    moved = calm(_rate(track.time_s, track.pos_m))
    felt = calm(_rate(track.time_s, track.vel_m_s)) + np.array([0.0, 0.0, GRAVITY_M_S2])
    turned = calm(rates_of(track.time_s, track.quat_wxyz))
    found = {
        VELOCITY: _shares(calm(track.vel_m_s), moved, MOVES_M_S),
        RATES: _shares(calm(track.omega_rad_s), turned, TURNS_RAD_S),
        GRAVITY: np.array([np.nan]),
        PUSH: np.array([np.nan]),
    }
    if track.force_m_s2 is not None:
        off = calm(rotate(track.quat_wxyz, track.force_m_s2)) - felt
        found[GRAVITY] = np.sqrt((off**2).sum(-1).mean(keepdims=True)) / GRAVITY_M_S2
    if track.flies:
        found[PUSH] = _push(calm(rotation_matrix(track.quat_wxyz)[..., 2]), felt)
    return found


def _left(came: dict[str, np.ndarray], undone: dict[str, np.ndarray]) -> float:
    """Return the worst fraction after a mistake was undone; infinite if that hides a broken law instead of
    fixing it.

    Rates are exempt: those of a vehicle that hardly turns are seen in degrees, and not in radians.
    """
    hidden = [(came[law] > BREAKS) & np.isnan(undone[law]) for law in came if law != RATES]
    shares = np.concatenate(list(undone.values()))
    return float("inf") if np.concatenate(hidden).any() or np.isnan(shares).all() else float(np.nanmax(shares))


def _axes(which: np.ndarray) -> str:
    return "" if which.all() else " along " + ", ".join(np.array(list("xyz"))[: len(which)][which])


def smoothed(time_s: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The mean over `CALM_S`, [T, n] to [T - W + 1, n]: of measured and derived rows alike, so that both lag alike."""
    width = max(1, min(len(rows), round(CALM_S * (len(rows) - 1) / (time_s[-1] - time_s[0]))))
    total = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, 0)])
    return (total[width:] - total[:-width]) / width


def rates_of(time_s: np.ndarray, quat: np.ndarray) -> np.ndarray:
    """[T, 3] body rates [rad/s] of [T, 4] attitudes: omega = 2 q* q'."""
    same = np.where((quat[1:] * quat[:-1]).sum(-1) < 0, -1.0, 1.0)
    whole = quat * np.concatenate([[1.0], np.cumprod(same)])[:, None]
    return 2 * quat_multiply(quat_conjugate(whole), _rate(time_s, whole))[..., 1:]


def _push(up: np.ndarray, felt: np.ndarray) -> np.ndarray:
    """Horizontal parts only: that the body is upright says nothing of the frame."""
    length = np.linalg.norm(felt, axis=-1, keepdims=True)
    return _shares((up * length)[:, :2], felt[:, :2], PUSHED_M_S2)


def _rate(time_s: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.gradient(rows, time_s, axis=0)


def _shares(said: np.ndarray, true: np.ndarray, least: float) -> np.ndarray:
    """Return error over motion of each axis that moves. Reported values count as motion too, so that degrees are
    noticed when little turns.
    """
    motion, error = _mean_size(true), _mean_size(said - true)
    moves = np.maximum(motion, _mean_size(said)) >= least
    return np.where(moves, error / np.maximum(motion, least), np.nan)


def _mean_size(rows: np.ndarray) -> np.ndarray:
    return np.sqrt((rows**2).mean(0))


def _mirrored(vectors: np.ndarray) -> np.ndarray:
    return vectors * np.array([1.0, -1.0, 1.0])


def _lying(vectors: np.ndarray) -> np.ndarray:
    """y up to z up."""
    return np.stack([vectors[..., 0], -vectors[..., 2], vectors[..., 1]], -1)


def _world(turn: Callable[[np.ndarray], np.ndarray]) -> Callable[[StateTrack], StateTrack]:
    """Position and velocity are in another world frame, the attitude is not."""
    return lambda track: replace(track, pos_m=turn(track.pos_m), vel_m_s=turn(track.vel_m_s))


def _swapped(track: StateTrack) -> StateTrack:
    return replace(_body(_world(swap_world)(track)), quat_wxyz=swap_attitude(track.quat_wxyz))


def _body(track: StateTrack) -> StateTrack:
    force = None if track.force_m_s2 is None else swap_body(track.force_m_s2)
    return replace(track, omega_rad_s=swap_body(track.omega_rad_s), force_m_s2=force)


def _to_world(track: StateTrack) -> StateTrack:
    return replace(track, vel_m_s=rotate(track.quat_wxyz, track.vel_m_s))


def _mirrored_attitude(track: StateTrack) -> StateTrack:
    mended = _world(_mirrored)(track)
    return replace(mended, quat_wxyz=track.quat_wxyz * np.array([1.0, -1.0, 1.0, -1.0]))


MISTAKES: dict[str, Callable[[StateTrack], StateTrack]] = {
    "NED and FRD are read as ENU and FLU": _swapped,
    "position and velocity are in NED and read as ENU": _world(swap_world),
    "rates and accelerations are in FRD and read as FLU": _body,
    "rates are in degrees and read as radians": lambda t: replace(t, omega_rad_s=np.deg2rad(t.omega_rad_s)),
    "position and velocity are in a left-handed frame": _world(_mirrored),
    "position, velocity and attitude are in a left-handed frame": _mirrored_attitude,
    "position and velocity are in a frame with y up": _world(_lying),
    "the quaternion is xyzw and read as wxyz": lambda t: replace(t, quat_wxyz=wxyz(t.quat_wxyz)),
    "the quaternion turns the world into the body": lambda t: replace(t, quat_wxyz=quat_conjugate(t.quat_wxyz)),
    "the velocity is in the body frame and read as in the world": _to_world,
    "positions are in millimetres and read as metres": lambda t: replace(t, pos_m=t.pos_m / 1000),
}
"""Functions that undo each mistake."""
