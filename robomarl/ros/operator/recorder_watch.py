"""`RecorderWatch`: the monitor's report on the team's recorder, which no other node misses. No ROS here."""

import math

from robomarl.ros.recording.watch import QUIET_S, Told
from robomarl.ros.robot.health import ERROR, OK, DiagnosticEntry


class RecorderWatch:
    """Memory of one monitor. A team that had no recorder so far is not asked for one."""

    def __init__(self) -> None:
        """Nothing was heard of a recorder."""
        self._told, self._heard_s = Told(OK, "", {}), -math.inf
        self._was_there = True

    def hear(self, told: Told, now_s: float) -> None:
        """Store the recorder's report, received at a time [s]."""
        self._told, self._heard_s = told, now_s

    def is_silent(self, now_s: float) -> bool:
        """True if a recorder was heard once, and is not any more."""
        return QUIET_S < now_s - self._heard_s < math.inf

    def entry(self, name: str, now_s: float) -> DiagnosticEntry | None:
        """The entry of a monitor's diagnostics; None if no recorder was ever heard."""
        if self._heard_s == -math.inf:
            return None
        level, text = self._told.level, self._told.text
        if self.is_silent(now_s):
            level, text = ERROR, f"silent for {now_s - self._heard_s:.0f} s: nothing is recorded; start recorder_node"
        return DiagnosticEntry(f"{name}: recorder", level, text, dict(self._told.robots))

    def news(self, now_s: float) -> tuple[bool, str]:
        """(is it bad?, line for the log) where the recorder has gone or come back; "" where nothing changed."""
        was_there, self._was_there = self._was_there, not self.is_silent(now_s)
        if was_there == self._was_there:
            return False, ""
        if self._was_there:
            return False, "the recorder is there again."
        return True, "the recorder is silent: nothing is recorded; start recorder_node."
