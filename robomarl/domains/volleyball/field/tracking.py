"""`LateMessages`: messages of a tracking system on their way: late, and some lost."""

from collections import deque

import numpy as np

from robomarl.ros.io.messages import Message


class LateMessages:
    """A queue of messages; each arrives a fixed time after its measurement, or never."""

    def __init__(self, latency_s: float, loss: float, seed: int) -> None:
        """Nothing is on its way.

        Args:
            latency_s: time [s] from a measurement to its arrival.
            loss: share of the messages that are lost.
            seed: of the losses.
        """
        self._latency_s, self._loss, self._random = latency_s, loss, np.random.default_rng(seed)
        self._queue: deque[tuple[float, Message]] = deque()

    def send(self, message: Message, stamp_s: float) -> None:
        """A measurement was made at this time."""
        if self._random.random() >= self._loss:
            self._queue.append((stamp_s, message))

    def arrived(self, now_s: float) -> Message | None:
        """Return the newest message that has arrived by now and was not returned before; None: there is none."""
        newest = None
        while self._queue and self._queue[0][0] + self._latency_s <= now_s:
            newest = self._queue.popleft()[1]
        return newest
