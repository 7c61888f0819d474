"""Reactions of a vehicle to lost commands: follow commands while they come, hover and then land when
they stop. No ROS.

The times are in the vehicle file, `on_command_loss`. A vehicle that has not been commanded yet
hovers where it was put; one that is landing or has landed stays so until the next reset.
"""

from enum import IntEnum

import numpy as np

from robomarl.core.hardware.vehicle import Vehicle

POSITION_PER_S2 = 4.5
"""Hover: acceleration over position error; with the two below, poles near 1.5 rad/s, well damped."""
VELOCITY_PER_S = 3.0
"""Hover: acceleration over velocity error."""
INTEGRAL_PER_S3 = 1.5
"""Hover: integral gain [1/s³] that removes the error from a wrong mass or steady wind."""
MAX_TRIM_M_S2 = 2.0
"""Most that the integral may add."""
LANDING_LAG_M = 0.3
"""A landing's set-point is at most so far below the vehicle: on the ground it waits there."""
NEAR_GROUND = 3.0
"""Height in body radii below which a vehicle without commands lands instead of stopping its motors."""
MOTORS_OFF_M_S2 = -9.8
"""Vertical acceleration command [m/s²] below which a low and slow vehicle stops its motors."""
TOUCHDOWN_SPEED_M_S = 0.05
"""Slower than this and within a body radius of its lowest place, a landing vehicle is down."""


class Mode(IntEnum):
    """Source of a vehicle's motion."""

    WAITING = 0
    """Hovers: never commanded since the reset."""
    FOLLOWING = 1
    """Follows commands."""
    HOVERING = 2
    """Commands stopped for `hover_after_s`."""
    LANDING = 3
    """Commands stopped for `land_after_s`."""
    LANDED = 4
    """Motors idle after a landing, until the next reset."""
    GROUNDED = 5
    """Motors idle before a take-off, until the vehicle is commanded."""
    OFF = 6
    """Commands stopped for `motors_off_after_s`: the motors too."""


class VehicleFailsafe:
    """The N vehicles' own reactions; one call for each physics step."""

    def __init__(self, vehicle: Vehicle, count: int, width: int = 4) -> None:
        """Read the vehicle file; call `reset` before the first step.

        Args:
            vehicle: vehicle file of all N vehicles.
            count: N.
            width: A, elements of a command.
        """
        self._loss, self._radius_m = vehicle.on_command_loss, vehicle.body.radius_m
        self._brake_m_s2 = vehicle.safety.brake_m_s2
        self.mode = np.full(count, Mode.WAITING)
        self._command = np.zeros((count, width))
        self._age_s = np.zeros(count)
        self._hold_m, self._trim = np.zeros((count, 3)), np.zeros((count, 3))
        self._pos_m, self._vel_m_s = np.zeros((count, 3)), np.zeros((count, 3))

    def reset(self, pos_m: np.ndarray) -> None:
        """Hover at [N, 3] until commanded."""
        self.mode[:] = Mode.WAITING
        self._hold_m[:] = self._pos_m[:] = pos_m
        self._vel_m_s[:] = 0.0
        self._trim[:] = self._command[:] = self._age_s[:] = 0.0

    def ground(self) -> None:
        """All are on the ground."""
        self.mode[:] = Mode.GROUNDED

    def stop(self) -> None:
        """Apply the E-stop: vehicles in the air land, whichever command they get, until the next reset."""
        self._hold(self.mode == Mode.FOLLOWING)
        self.mode[self.mode < Mode.LANDING] = Mode.LANDING

    def receive(self, index: int, command: np.ndarray) -> None:
        """A command [A] arrived at vehicle `index`."""
        self._command[index], self._age_s[index] = command, 0.0
        if self.mode[index] in (Mode.WAITING, Mode.HOVERING, Mode.GROUNDED):
            self.mode[index] = Mode.FOLLOWING

    def pass_time(self, pos_m: np.ndarray, vel_m_s: np.ndarray, dt_s: float) -> None:
        """Let commands age by `dt_s`, and act where they are too old; estimates are [N, 3] each."""
        self._age_s += dt_s
        self._pos_m, self._vel_m_s = pos_m, vel_m_s
        self._change_modes(pos_m, vel_m_s)

    def step(self, pos_m: np.ndarray, vel_m_s: np.ndarray, dt_s: float) -> np.ndarray:
        """Return the commands [N, A] of the low-level controllers for the next `dt_s`, from estimates [N, 3] each."""
        self.pass_time(pos_m, vel_m_s, dt_s)
        own = self.mode != Mode.FOLLOWING
        if not own.any():
            return self._command
        wanted = np.zeros_like(vel_m_s)
        landing = self.mode == Mode.LANDING
        wanted[landing, 2] = -self._loss.land_speed_m_s
        # The set-point sinks, whatever the vehicle does: otherwise one that is light or strong would never follow.
        sunk_m = np.maximum(self._hold_m[:, 2] - self._loss.land_speed_m_s * dt_s, pos_m[:, 2] - LANDING_LAG_M)
        self._hold_m[landing, 2] = sunk_m[landing]
        error = self._hold_m - pos_m
        self._trim = np.clip(self._trim + INTEGRAL_PER_S3 * dt_s * error, -MAX_TRIM_M_S2, MAX_TRIM_M_S2)
        accel = POSITION_PER_S2 * error + VELOCITY_PER_S * (wanted - vel_m_s) + self._trim
        accel[self.mode >= Mode.LANDED] = (0.0, 0.0, -np.inf)  # as little lift as the vehicle can make
        command = np.zeros_like(self._command)
        command[:, :3] = accel
        return np.where(own[:, None], command, self._command)

    def _change_modes(self, pos_m: np.ndarray, vel_m_s: np.ndarray) -> None:
        lost = (self.mode == Mode.FOLLOWING) & (self._age_s > self._loss.hover_after_s)
        self._hold(lost)
        self.mode[lost] = Mode.HOVERING
        self.mode[(self.mode == Mode.HOVERING) & (self._age_s > self._loss.land_after_s)] = Mode.LANDING
        low = pos_m[:, 2] < 2 * self._radius_m
        if (off_s := self._loss.motors_off_after_s) is not None:
            silent = (self.mode == Mode.HOVERING) & (self._age_s > off_s)
            self.mode[silent] = np.where(pos_m[silent, 2] < NEAR_GROUND * self._radius_m, Mode.LANDING, Mode.OFF)
        slow = np.abs(vel_m_s[:, 2]) < TOUCHDOWN_SPEED_M_S
        told = (self.mode == Mode.FOLLOWING) & (self._command[:, 2] < MOTORS_OFF_M_S2)
        self.mode[((self.mode == Mode.LANDING) | told) & low & slow] = Mode.LANDED

    def _hold(self, which: np.ndarray) -> None:
        """Let vehicles [N] bool come to rest where braking takes them from their newest estimates."""
        speed = np.linalg.norm(self._vel_m_s, axis=-1, keepdims=True)
        stop_m = self._pos_m + self._vel_m_s * speed / (2 * self._brake_m_s2)
        self._hold_m[which], self._trim[which] = stop_m[which], 0.0
