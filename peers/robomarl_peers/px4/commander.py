"""`Commander`: PX4's modes, arming and fail-safes of one vehicle. Plain Python: no sockets, no ROS.

Its behaviour and texts are those of PX4's documentation (flight modes, offboard; safety
configuration; arming). Without set-points for COM_OF_LOSS_T it holds for COM_FAIL_ACT_T, then
takes the action of COM_OBL_RC_ACT. Modes are modelled as far as adapters use them.
"""

from dataclasses import dataclass, field
from enum import IntEnum

PROOF_S, PROOF_GAP_S = 1.0, 0.5
"""Duration [s] of the set-point stream, and longest gap in it [s], before offboard is entered."""
SPOOL_S = 1.0
"""COM_SPOOLUP_TIME: time [s] for which motors idle after arming."""


class FlightMode(IntEnum):
    """`custom_mode`: main mode in bits 16 to 23, sub-mode in 24 to 31."""

    MANUAL = 1 << 16
    POSCTL = 3 << 16
    LOITER = 4 << 16 | 3 << 24
    LAND = 4 << 16 | 6 << 24
    OFFBOARD = 6 << 16


class Result(IntEnum):
    """MAV_RESULT."""

    ACCEPTED = 0
    REJECTED = 1
    DENIED = 2
    UNSUPPORTED = 3


class LossAct(IntEnum):
    """COM_OBL_RC_ACT, those that are played."""

    POSITION = 0
    LAND = 4
    HOLD = 5


DEFAULTS: dict[str, float | int] = {
    "COM_OBL_RC_ACT": 4,
    "COM_OF_LOSS_T": 0.5,
    "COM_FAIL_ACT_T": 1.0,
    "COM_DISARM_LAND": 1.0,
    "COM_DISARM_PRFLT": 10.0,
    "MPC_LAND_SPEED": 0.6,
    "MAV_PROTO_VER": 2,
}
"""Values that the checklist sets; PX4's own defaults of the first three are 0, 1 and 5."""


@dataclass
class Commander:
    """Memory of one vehicle."""

    parameters: dict[str, float | int] = field(default_factory=lambda: dict(DEFAULTS))
    mode: FlightMode = FlightMode.MANUAL
    armed: bool = False
    landed: bool = True
    refuses: bool = False
    """True if its arming checks fail: for tests of components that have to notice it."""
    battery_low: bool = False
    terminated: bool = False
    said: list[str] = field(default_factory=list)
    """Texts for the ground station, not sent yet."""
    armed_s: float = 0.0
    """When it was."""
    _first_s: float = 0.0
    _last_s: float = -1e9
    """Times of the first and the last set-point of the stream."""
    _held_s: float | None = None
    """Time since which the vehicle holds because set-points stopped."""
    _landed_s: float = 0.0

    def streamed(self, now_s: float) -> None:
        """A set-point came."""
        if now_s - self._last_s > PROOF_GAP_S:
            self._first_s = now_s
        self._last_s = now_s

    def set_mode(self, main: int, sub: int, now_s: float) -> Result:
        """MAV_CMD_DO_SET_MODE."""
        try:
            wanted = FlightMode(main << 16 | sub << 24)
        except ValueError:
            return Result.UNSUPPORTED
        if wanted is FlightMode.OFFBOARD and not self._proven(now_s):
            self.said.append("Mode change rejected: no offboard signal")
            return Result.REJECTED
        self._enter(wanted)
        return Result.ACCEPTED

    def arm(self, wanted: bool, force: bool, now_s: float) -> Result:
        """MAV_CMD_COMPONENT_ARM_DISARM."""
        if wanted:
            return self._arm(now_s)
        if not self.landed and not force:
            self.said.append("Disarming denied: not landed")
            return Result.REJECTED
        self.armed = False
        return Result.ACCEPTED

    def step(self, now_s: float, landed: bool) -> None:
        """Do one step; `landed` is the output of the land detector."""
        if not landed:
            self._landed_s = now_s
        self.landed = landed
        if not self.armed:
            return
        self._watch_stream(now_s)
        on_ground_s = now_s - max(self._landed_s, self.armed_s)
        flown = self._landed_s > self.armed_s
        limit_s = self.parameters["COM_DISARM_LAND" if flown else "COM_DISARM_PRFLT"]
        if landed and on_ground_s > limit_s:
            self.armed = False

    @property
    def spooled_s(self) -> float:
        """When motors do more than idle."""
        return self.armed_s + SPOOL_S

    def take_over(self) -> None:
        """A pilot with a remote control."""
        self._enter(FlightMode.POSCTL)

    def _arm(self, now_s: float) -> Result:
        if self.armed:
            return Result.ACCEPTED
        why = ""
        if self.refuses:
            why = "Preflight Fail: Accel 0 uncalibrated"
        elif self.battery_low:
            why = "Preflight Fail: low battery"
        elif self.mode is FlightMode.OFFBOARD and not self._proven(now_s):
            why = "Arming denied: no offboard signal"
        elif self.mode is FlightMode.LAND:
            why = "Arming denied: switch to another mode first"
        if why:
            self.said.append(why)
            return Result.REJECTED
        self.armed, self.armed_s = True, now_s
        return Result.ACCEPTED

    def _proven(self, now_s: float) -> bool:
        lost_s = self.parameters["COM_OF_LOSS_T"]
        return now_s - self._last_s <= lost_s and self._last_s - self._first_s >= PROOF_S

    def _watch_stream(self, now_s: float) -> None:
        if self._held_s is not None and self.mode is FlightMode.LOITER:
            if now_s - self._held_s >= self.parameters["COM_FAIL_ACT_T"]:
                acts = {
                    LossAct.POSITION: FlightMode.POSCTL,
                    LossAct.LAND: FlightMode.LAND,
                    LossAct.HOLD: FlightMode.LOITER,
                }
                mode, self._held_s = acts[LossAct(self.parameters["COM_OBL_RC_ACT"])], None
                self._enter(mode)
        elif self.mode is FlightMode.OFFBOARD and now_s - self._last_s > self.parameters["COM_OF_LOSS_T"]:
            self._enter(FlightMode.LOITER)
            self._held_s = now_s
            self.said.append("Failsafe: no offboard signal")

    def _enter(self, mode: FlightMode) -> None:
        self.mode, self._held_s = mode, None
