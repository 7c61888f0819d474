"""`Sensed`: state that one PX4 vehicle knows of itself, and its messages under injected faults. No ROS."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import rotation_matrix
from robomarl.ros.io.messages import Estimate
from robomarl_peers.driven_team import EMPTY_V, FULL_V


@dataclass
class Sensed:
    """Current measurements and faults of a vehicle."""

    own: Estimate
    """[3] parts, NED and FRD."""
    force_m_s2: np.ndarray
    """[3] FRD."""
    volts: float
    low: bool
    resets: int
    faults: frozenset[str]


class ToldState(NamedTuple):
    """State estimate as published."""

    pos_m: np.ndarray
    """[3] NED."""
    quat_wxyz: np.ndarray
    """[4] FRD in NED."""
    within_m_s: np.ndarray
    """[3] velocity, FRD."""
    omega_rad_s: np.ndarray
    """[3] FRD."""


def misread(seen: Sensed) -> ToldState:
    """The estimate, with the faults that are on: a jump of 1 m; in ENU and FLU; rates in degrees; left-handed."""
    pos, quat, vel, omega = seen.own
    within = rotation_matrix(quat).T @ vel
    if "jump" in seen.faults:
        pos = pos + np.array([0.0, 1.0, 0.0])
    if "enu" in seen.faults:
        (pos, within, quat), omega = _as_enu(pos, within, quat), omega * np.array([1.0, -1.0, -1.0])
    if "degrees" in seen.faults:
        omega = np.rad2deg(omega)
    if "mirrored" in seen.faults:
        flip = np.array([1.0, -1.0, 1.0])
        pos, quat = pos * flip, quat * np.array([1.0, -1.0, 1.0, -1.0])
        within = within * flip
    return ToldState(pos, quat, within, omega)


def felt_by(seen: Sensed) -> np.ndarray:
    """[3] of the accelerometer, FRD."""
    return seen.force_m_s2 * (np.array([1.0, -1.0, -1.0]) if "enu" in seen.faults else np.ones(3))


def charge_of(seen: Sensed) -> float:
    """Share of the battery's charge."""
    return 0.05 if seen.low else min(max((seen.volts - EMPTY_V) / (FULL_V - EMPTY_V), 0.0), 1.0)


def _as_enu(pos: np.ndarray, within: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return NED and FRD as ENU and FLU, as a wrongly configured bridge does."""
    matrix, half = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]), math.sqrt(0.5)
    w, x, y, z = quat
    there = np.array([w + z, x + y, x - y, w - z]) * half
    return matrix @ pos, within * np.array([1.0, -1.0, -1.0]), there
