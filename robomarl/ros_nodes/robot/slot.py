"""`Slot`: the latest message of one source, and when it came. No ROS here."""

import math
from dataclasses import dataclass
from typing import Any

NEVER = -math.inf


@dataclass
class Slot:
    """The latest message of one source."""

    value: Any = None
    stamp_s: float = NEVER
    arrived_s: float = NEVER

    def put(self, value: Any, stamp_s: float, steady_s: float, max_age_s: float) -> None:
        """A message arrived."""
        if self.since_s(stamp_s, steady_s, max_age_s) > 0:
            self.value, self.stamp_s, self.arrived_s = value, stamp_s, steady_s

    def since_s(self, stamp_s: float, steady_s: float, max_age_s: float) -> float:
        """From the sample before to one that comes now; 0 for one that comes late, and is dropped.

        After nothing for long, an older stamp means that a clock was set back.
        """
        if stamp_s > self.stamp_s:
            return stamp_s - self.stamp_s
        silent_s = steady_s - self.arrived_s
        return silent_s if silent_s > max_age_s else 0.0
