"""`AutopilotLink`: interface of a wire to a vehicle with an autopilot. No ROS, no sockets."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from robomarl.ros.timing.steady import steady_now_s
from robomarl.vehicles.autopilot.ned import NedTarget, to_target
from robomarl.vehicles.autopilot.state import ARM_DISARM, BY_FORCE, AutopilotState
from robomarl.vehicles.conversion.reference import Reference
from robomarl.vehicles.samples import StateSample


class AutopilotLink(ABC):
    """One connection."""

    clock: Callable[[], float]
    """Steady clock [s], by which `heard_s` is measured."""
    where: str
    """For diagnostics."""

    def __init__(self, state: AutopilotState, where: str) -> None:
        """Nothing heard."""
        self.state, self.where = state, where
        self.clock = steady_now_s
        self._busy = ""
        """Why the wire can't be used; "" where it can."""

    @property
    def problem(self) -> str:
        """Why it is not fit; "" where it is."""
        return self._busy or self.state.problem

    @property
    def sample(self) -> StateSample | None:
        """The newest estimate."""
        return self.state.sample

    @property
    def heard_s(self) -> float:
        """When it was last heard."""
        return self.state.heard_s

    @property
    def force_m_s2(self) -> np.ndarray | None:
        """[3] of its accelerometer, FLU."""
        return self.state.force_m_s2

    def figures(self) -> dict[str, str]:
        """For diagnostics."""
        state, autopilot = self.state, self.state.autopilot
        said = {"mode": autopilot.mode_name(state.mode), "armed": str(state.armed)} if autopilot else {}
        if not math.isnan(state.volts):
            said |= {"volts": f"{state.volts:.2f}", "charge": f"{100 * state.share:.0f} %"}
        if state.text:
            said["says"] = state.text
        said |= {"messages_refused": str(state.refused)} if state.refused else {}
        return {"address": self.where, "system": str(state.system), **said}

    @abstractmethod
    def open(self) -> None:
        """Take the wire, if it is not ours yet."""

    @abstractmethod
    def close(self) -> None:
        """Give it back."""

    @abstractmethod
    def poll(self) -> None:
        """Read new messages and send those that are due."""

    @abstractmethod
    def target(self, reference: Reference) -> None:
        """Track a reference; it also proves that the adapter is alive."""

    @abstractmethod
    def set_mode(self, mode: int) -> None:
        """Ask for a mode by its `custom_mode`."""

    @abstractmethod
    def arm(self, wanted: bool) -> None:
        """Ask the vehicle to arm or disarm; its status shows the result."""

    @abstractmethod
    def kill(self) -> None:
        """Stop the motors at once, wherever it is."""

    @abstractmethod
    def take_off(self, lift_m: float) -> None:
        """Climb so high by itself."""


class CommandedLink(AutopilotLink):
    """One connection that carries MAVLink's commands by number, and references in NED."""

    @abstractmethod
    def command(self, number: int, *values: float) -> None:
        """Send a command with its first parameters; the others are 0."""

    def arm(self, wanted: bool) -> None:
        """Ask the vehicle to arm or disarm; its next status shows the result."""
        self.command(ARM_DISARM, float(wanted))

    def kill(self) -> None:
        """Stop the motors at once, wherever it is."""
        self.command(ARM_DISARM, 0.0, BY_FORCE)

    def in_ned(self, reference: Reference) -> NedTarget:
        """Return a reference in the terms in which it is sent."""
        yaw = np.asarray(reference.yaw_rad), np.asarray(reference.yaw_rate_rad_s)
        return to_target(reference.pos_m, reference.vel_m_s, reference.accel_m_s2, *yaw)
