"""Flight of the excitations: one loop for every plant."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from robomarl.core.hardware.sections import LimitConfig
from robomarl.lab.plants.conditions import Condition
from robomarl.lab.plants.excite import Excitation

TOO_FAST = 0.9
"""Fraction of the largest speed above which a flight is turned back, as a filter would do: the behaviour of a
vehicle at its own speed limit, if it has one, is no error.
"""
BACK_AT = 0.5
"""Fraction of the largest speed below which a flight is no longer turned back."""


class Flights(NamedTuple):
    """Commands and resulting motion of E flights of K decisions."""

    command: np.ndarray
    """[K, E, 3] m/s^2, as sent."""
    pos_m: np.ndarray
    """[K + 1, E, 3] at the decisions and at the end."""
    vel_m_s: np.ndarray
    """[K + 1, E, 3]."""
    period_s: float


class Plant(Protocol):
    """E vehicles side by side, each alone."""

    @property
    def period_s(self) -> float:
        """Time [s] between two decisions."""
        ...

    def start(self, conditions: Sequence[Condition], vel_m_s: np.ndarray) -> None:
        """Begin anew, [E] conditions, [E, 3] velocities."""
        ...

    def motion(self) -> tuple[np.ndarray, np.ndarray]:
        """[E, 3] true positions [m] and velocities [m/s]."""
        ...

    def step(self, accel_m_s2: np.ndarray, yaw_rate: np.ndarray) -> None:
        """One decision, [E, 3] and [E]."""
        ...


def fly(plant: Plant, condition: Condition, what: Excitation, limits: LimitConfig) -> Flights:
    """Fly all excitations under one condition; a flight that exceeds the vehicle's speed is turned back.

    Args:
        plant: as many vehicles as there are excitations.
        condition: condition of all flights.
        what: the commands.
        limits: largest speed, and the accelerations that turn a flight back.
    """
    steps, flights = what.command.shape[:2]
    plant.start([condition] * flights, what.start_m_s)
    pos, vel = np.zeros((2, steps + 1, flights, 3))
    sent, fast = np.zeros_like(what.command), np.zeros(flights, bool)
    pos[0], vel[0] = plant.motion()
    for k in range(steps):
        speed = np.linalg.norm(vel[k], axis=-1)
        fast = (speed > TOO_FAST * limits.speed_m_s) | (fast & (speed > BACK_AT * limits.speed_m_s))
        sent[k] = turned_back(what.command[k], vel[k], fast, limits)
        plant.step(sent[k], what.yaw_rate[k])
        pos[k + 1], vel[k + 1] = plant.motion()
    return Flights(sent, pos, vel, plant.period_s)


def turned_back(command: np.ndarray, vel: np.ndarray, fast: np.ndarray, limits: LimitConfig) -> np.ndarray:
    """Return the commands [E, 3]; if a flight is too fast, the axes responsible get full acceleration in reverse."""
    part = np.abs(vel) > 0.3 * np.linalg.norm(vel, axis=-1, keepdims=True)
    wrong = fast[:, None] & part & (command * vel >= 0)
    return np.where(wrong, np.where(vel > 0, limits.accel_min_m_s2, limits.accel_max_m_s2), command)
