"""`Link`: one direction of a bad radio: loss in bursts, delay, jitter. Also the names of sensor
faults. No ROS.

Loss is Gilbert's two-state chain (Gilbert, Capacity of a Burst-Noise Channel, 1960): in the good
state every message comes through, in the bad state none. With mean burst length b and loss share p,
a bad state ends with probability 1 / b a message, and a good one with p / (b (1 - p)).
"""

import heapq
from dataclasses import dataclass

import numpy as np

FAULTS = ("silent", "frozen", "same", "future", "late", "nan", "jump")
"""Faults of a sensor, in this order: no messages; an old value under new stamps; the old message again and again;
stamps ahead of the clock by 10 s; stamps 10 s behind; not a number; another position, a metre off.
"""
SHIFT_S = 10.0
JUMP_M = 1.0


@dataclass(frozen=True)
class LinkQuality:
    """How bad."""

    loss: float = 0.0
    """Share of messages that are lost."""
    burst: float = 1.0
    """Mean number of messages that are lost in a row."""
    delay_s: float = 0.0
    jitter_s: float = 0.0
    """Uniform, on top of the delay."""

    def chances(self) -> tuple[float, float]:
        """(good to bad, bad to good), per message."""
        leave = 1 / max(self.burst, 1.0)
        if self.loss >= 1.0:
            return 1.0, 0.0
        return min(self.loss * leave / (1 - self.loss), 1.0), leave


class Link:
    """Messages of one sender on their way to one receiver."""

    def __init__(self, seed: int) -> None:
        """Nothing on its way."""
        self._random = np.random.default_rng(seed)
        self._bad, self._number = False, 0
        self._waiting: list[tuple[float, int, bytes]] = []
        self.sent = self.lost = 0

    def send(self, data: bytes, now_s: float, quality: LinkQuality, cut: bool = False) -> None:
        """A message leaves the sender."""
        begin, end = quality.chances()
        self._bad = self._random.random() >= end if self._bad else self._random.random() < begin
        self.sent += 1
        if self._bad or cut:
            self.lost += 1
            return
        due_s = now_s + quality.delay_s + quality.jitter_s * self._random.random()
        self._number += 1
        heapq.heappush(self._waiting, (due_s, self._number, data))

    def due(self, now_s: float) -> list[bytes]:
        """Messages that have arrived by now, in the order in which they do."""
        arrived = []
        while self._waiting and self._waiting[0][0] <= now_s:
            arrived.append(heapq.heappop(self._waiting)[2])
        return arrived


def is_cut(sender: str, receiver: str, cut: tuple[str, ...]) -> bool:
    """Return True if nothing gets from one robot to another: either is cut off, or this direction is."""
    return sender in cut or receiver in cut or f"{sender}>{receiver}" in cut


def sensor_faults(texts: tuple[str, ...]) -> dict[str, str]:
    """ROBOT=FAULT texts by robot.

    Raises:
        ValueError: a fault is not known.
    """
    pairs = dict(text.split("=", 1) for text in texts if "=" in text)
    for name, fault in pairs.items():
        if fault not in FAULTS:
            raise ValueError(f"sensor = {name}={fault}: the fault is not known; allowed: {', '.join(FAULTS)}.")
    return pairs
