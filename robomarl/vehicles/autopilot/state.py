"""`AutopilotState`: one vehicle's reports on itself, over any wire. No ROS, no sockets.

Times are those of the link's clock.
"""

import math
from collections.abc import Iterable

import numpy as np

from robomarl.core.hardware.sections import CommandLossConfig
from robomarl.ros.intake.sound import fault_of
from robomarl.ros.io.messages import Estimate, fault_in_estimate
from robomarl.vehicles.autopilot.kinds import QUADROTOR, TYPES, AutopilotKind
from robomarl.vehicles.samples import ClockMatch, StateSample

LANDED, ALOFT = 1, frozenset((2, 3, 4))
"""MAV_LANDED_STATE: on the ground; in the air, taking off, landing."""
CHARGE_LOW = 2
"""MAV_BATTERY_CHARGE_STATE: low; more is worse, up to 4."""
RESULTS = {1: "temporarily rejected", 2: "denied", 3: "not supported", 4: "failed", 6: "cancelled"}
"""MAV_RESULT; 0 is accepted, 5 in progress."""
TAKE_OFF, DO_SET_MODE, ARM_DISARM = 22, 176, 400
"""MAV_CMD."""
COMMANDS = {TAKE_OFF: "take-off", DO_SET_MODE: "the change of mode", ARM_DISARM: "arming"}
BY_FORCE = 21196
"""Second parameter of MAV_CMD_COMPONENT_ARM_DISARM: in the air too."""
CUSTOM = 1.0
"""MAV_MODE_FLAG_CUSTOM_MODE_ENABLED."""
US = (255, 191)
"""System and component that the adapter speaks as: a ground station's, a companion computer's."""


class AutopilotState:
    """Memory: the newest of everything."""

    silent = "nothing heard of it yet"
    """Why a vehicle that has said nothing is not fit."""

    def __init__(self, system: int, loss: CommandLossConfig) -> None:
        """Start without a message.

        Args:
            system: MAV_SYS_ID that is expected; 0: any.
            loss: the vehicle file's rules for lost commands.
        """
        self.system, self._loss = system, loss
        self.sample: StateSample | None = None
        self.force_m_s2: np.ndarray | None = None
        self.autopilot: AutopilotKind | None = None
        self.heard_s = -math.inf
        self.mode, self.armed, self.terminated = -1, False, False
        self.landed = 0
        """MAV_LANDED_STATE; 0: it has not said."""
        self.volts, self.share, self.charge = math.nan, math.nan, 0
        """Voltage, charge and charge state of the battery; NaN and 0: not reported."""
        self.parameters: dict[str, float] = {}
        self.refusal = self.text = ""
        self.clocks = ClockMatch()
        self._wrong: dict[str, str] = {}
        self.refused = 0
        """Messages so far that were none: a number that can't be meant, no rotation."""

    @property
    def problem(self) -> str:
        """Why it is not fit to fly; "" where it is."""
        if self.autopilot is None:
            return next(iter(self._wrong.values()), self.silent)
        if self._wrong:
            return next(iter(self._wrong.values()))
        if unsaid := [name for name in self.autopilot.parameters if name not in self.parameters]:
            return f"it has not said its {unsaid[0]}"
        return self.autopilot.check(self.parameters, self._loss)

    def note(self, what: str, problem: str) -> None:
        """A kind of problem, or with "" that it is gone."""
        if problem:
            self._wrong[what] = problem
        else:
            self._wrong.pop(what, None)

    def note_type(self, number: int) -> None:
        """Its MAV_TYPE."""
        kind = TYPES.get(number, f"of MAV_TYPE {number}")
        self.note("type", "" if number == QUADROTOR else f"it is {kind}, and the vehicle file says a quadrotor")

    def note_system(self, number: int) -> bool:
        """Its MAV_SYS_ID; whether it is the vehicle that is expected, which from now on is this one."""
        if self.system not in (0, number):
            self.note("system", f"system {number} answers there, and it is to be {self.system} (MAV_SYS_ID)")
            return False
        self.system = number
        return True

    def said(self, name: str, value: float) -> None:
        """The value of a parameter; one that is not finite was not said."""
        if math.isfinite(value):
            self.parameters[name] = value
        else:
            self.refused += 1

    def is_sound(self, what: str, parts: Estimate | Iterable[float]) -> bool:
        """Return True if a message's numbers are sound; otherwise count and name it, and its sender ages.

        Args:
            what: name of the message.
            parts: an estimate as received, in any frames, or numbers.
        """
        why = fault_in_estimate(parts) if isinstance(parts, Estimate) else fault_of(parts, "a number")
        self.refused += bool(why)
        self.note(f"numbers of {what}", f"its {what} is refused: {why}" if why else "")
        return not why

    def answered(self, command: int, result: int) -> None:
        """A command was acknowledged: MAV_CMD, MAV_RESULT."""
        if command not in COMMANDS:
            return
        why = f" ({self.text})" if self.text else ""
        self.refusal = f"{COMMANDS[command]} was {RESULTS[result]}{why}" if result in RESULTS else ""

    def sampled(self, estimate: Estimate, now_s: float, made_s: float, resets: int) -> None:
        """An estimate in ENU and FLU that `is_sound`, made at a time of its own clock."""
        age_s = self.clocks.age_s(made_s, now_s)
        self.sample = StateSample(estimate, now_s, int(made_s * 1000) & 0xFFFFFF, resets, age_s)


def share_of(charge: float) -> float:
    """Return the charge of a battery from 0 to 1; NaN for a value that means unknown."""
    return charge if 0 <= charge <= 1 else math.nan
