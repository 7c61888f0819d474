"""Contents of messages once they are read: estimates, teammates' broadcasts, and inputs for a task's
senses.

No ROS here.
"""

import math
from collections import deque
from typing import Any, NamedTuple, NotRequired, TypedDict

import numpy as np

from robomarl.core.view import Plan
from robomarl.ros.intake.sound import ROTATION_TOLERANCE, fault_of
from robomarl.ros.robot.certified.words import TeamWords, fault_in_words

HISTORY_ROWS = 32
"""Own estimates that are remembered: more than pass while a picture is being looked at."""

Message = Any
"""A ROS message of any type, or a part of one: the generated classes have no common base."""


class MessageInfo(TypedDict):
    """Information of the middleware about a message that was received; times in ns."""

    source_timestamp: int
    received_timestamp: int
    publication_sequence_number: NotRequired[int | None]
    publisher_gid: NotRequired[dict[str, bytes] | None]


class Estimate(NamedTuple):
    """A robot's state estimate, as in `Own`."""

    pos_m: np.ndarray
    """[3] world."""
    quat_wxyz: np.ndarray
    """[4] body to world."""
    vel_m_s: np.ndarray
    """[3] world."""
    omega_rad_s: np.ndarray
    """[3] body."""


class Detections(NamedTuple):
    """Detections in a player's latest picture."""

    kinds: tuple[str, ...]
    """[n] names of the things, as in a picture."""
    pos_m: np.ndarray
    """[n, 3] world."""
    vel_m_s: np.ndarray
    """[n, 3] world."""
    age_s: float
    """Time [s] from the picture to the stamp of the message that carries the detections."""


class Broadcast(NamedTuple):
    """Content of one message that a robot broadcasts to its team."""

    pos_m: np.ndarray
    """[3] estimate at the stamp, world."""
    vel_m_s: np.ndarray
    """[3] estimate at the stamp, world."""
    plan: Plan
    """[3] each."""
    seen: Detections | None = None
    """Detections of a player, if its latest picture shows any."""
    words: TeamWords | None = None
    """Course and pacts of a certified robot."""


def fault_in(said: Broadcast) -> str:
    """Return why a teammate's broadcast cannot be meant, with all that is in it; "" if it can."""
    seen, words = (said.seen[1:3] if said.seen else ()), ((said.words.rows,) if said.words else ())
    parts = (said.pos_m, said.vel_m_s, *said.plan, *seen, *words)
    if why := fault_of((number for part in parts for number in part.ravel().tolist()), "a number"):
        return why
    return fault_in_words(said.words) if said.words else ""


def fault_in_estimate(estimate: Estimate) -> str:
    """Return why a vehicle's estimate, in any frames, cannot be meant; "" if it can."""
    if why := fault_of((number for part in estimate for number in part.ravel().tolist()), "a number"):
        return why
    length = math.hypot(*estimate.quat_wxyz.tolist())
    off = not abs(length - 1) <= ROTATION_TOLERANCE
    return f"its attitude is no rotation: it has length {length:.4g}, not 1" if off else ""


class PoseHistory:
    """A robot's own estimates of late."""

    def __init__(self) -> None:
        """Nothing is remembered."""
        self._rows: deque[tuple[float, Estimate]] = deque(maxlen=HISTORY_ROWS)

    def add(self, estimate: Estimate, stamp_s: float) -> None:
        """An estimate arrived."""
        self._rows.append((stamp_s, estimate))

    def at(self, stamp_s: float) -> Estimate | None:
        """The estimate with that stamp, or the nearest one carried there by its velocity; None before the first."""
        if not self._rows:
            return None
        near_s, found = min(reversed(self._rows), key=lambda row: abs(row[0] - stamp_s))
        return found._replace(pos_m=found.pos_m + found.vel_m_s * (stamp_s - near_s))


class TeamSnapshot(NamedTuple):
    """Inputs that a task's senses may need besides the task's own messages."""

    now_s: float
    """Current time [s] on the clock of message stamps."""
    history: PoseHistory
    """Recent estimates of the robot itself."""
    mates: tuple[tuple[Broadcast | None, float], ...]
    """[K] latest broadcast of every teammate (None: none that counts), and its age [s]."""


def empty_snapshot(mates: int) -> TeamSnapshot:
    """Return a snapshot without any received message."""
    return TeamSnapshot(0.0, PoseHistory(), ((None, np.inf),) * mates)
