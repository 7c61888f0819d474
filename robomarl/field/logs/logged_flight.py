"""`LoggedFlight`: one log in SI units."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

GRAVITY_M_S2 = 9.81


@dataclass(frozen=True)
class LoggedFlight:
    """One log, K rows, SI units, world frame with z up."""

    file: Path
    sha256: str
    """Hash of the numbers that were read: logs that are copies of each other have one hash."""
    time_s: np.ndarray
    """[K] increasing."""
    true_m: np.ndarray
    """[K, 3] position by motion capture."""
    true_quat: np.ndarray
    """[K, 4] wxyz, body to world."""
    estimated_m: np.ndarray
    """[K, 3]."""
    estimated_m_s: np.ndarray
    """[K, 3]."""
    motors: np.ndarray
    """[K, M] commands; M may be 0."""
    battery_v: np.ndarray
    """[K]; NaN where it was not logged."""
    force_m_s2: np.ndarray
    """[K, 3] accelerometer, body; [K, 0] where it was not logged, as all that follows."""
    gyro_rad_s: np.ndarray
    """[K, 3] body."""
    believed_quat: np.ndarray
    """[K, 4] attitude by the vehicle's own estimate."""
    tilt_order_rad: np.ndarray
    """[K, 2] roll and pitch that the attitude controller is told, about x and y of the body."""
    order_m: np.ndarray
    """[K, 3] position that the position controller is told."""
