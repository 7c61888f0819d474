"""`SharedRadio`: one Crazyradio for a whole team. Plain Python.

An exchange is a packet to one vehicle and, in its acknowledgement, one packet back (Bitcraze, communication protocol
overview). Vehicles take turns, whether they have something to say or not.
"""

import math

MOST = 50
"""Packets that wait in one direction; of more the oldest are lost."""


class SharedRadio:
    """Memory: which exchanges have been."""

    def __init__(self, rate_hz: float, count: int) -> None:
        """Create a radio with `rate_hz` exchanges per second, given to `count` vehicles in turn; 0: no rate limit."""
        self.rate_hz, self._count = rate_hz, count
        self._done = [0.0] * count

    def exchanges(self, index: int, now_s: float) -> int:
        """Those of one vehicle since its last call."""
        if not self.rate_hz:
            return MOST
        # Of this vehicle are the numbers index, index + count, index + 2 count, ...
        reached = math.floor((now_s * self.rate_hz - index) / self._count)
        since, self._done[index] = reached - self._done[index], reached
        return int(min(max(since, 0), MOST))
