"""`PictureKeeper`: of the compressed pictures of robots' cameras, those that a recording keeps for people.

The replay needs none of them: the strip of every picture that a robot used is recorded as it was. Raw pictures, 20 MB a
second for each camera, never go to the recorder.
"""

import math

from robomarl.ros.intake.sound import MessageError
from robomarl.ros.io import cdr


class PictureKeeper:
    """The pictures of all cameras of one recording."""

    def __init__(self, rate_hz: float, budget_bytes: float) -> None:
        """Keep nothing yet.

        Args:
            rate_hz: pictures of each camera per second; 0: none.
            budget_bytes: for the whole recording.
        """
        self._period_s = 1 / rate_hz if rate_hz > 0 else math.inf
        self._left = budget_bytes if rate_hz > 0 else 0.0
        self._next_s: dict[str, float] = {}
        self.kept = self.left_out = 0
        """Pictures so far."""

    def keeps(self, name: str, data: bytes) -> bool:
        """Return True if a serialized `CompressedImage` of a camera is kept: its turn has come, and there is room.

        Raises:
            MessageError: it is no message with a stamp.
        """
        try:
            stamp_s = cdr.stamp_s(data)
        except cdr.LayoutError as error:
            raise MessageError(f"is no picture: {error}") from None
        next_s = self._next_s.get(name, -math.inf)
        set_back = next_s - stamp_s > 2 * self._period_s  # the sender's clock
        if stamp_s < next_s and not set_back or len(data) > self._left:
            self.left_out += 1
            return False
        self._next_s[name] = stamp_s + self._period_s
        self._left -= len(data)
        self.kept += 1
        return True
