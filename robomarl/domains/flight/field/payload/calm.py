"""`Calm`: the times in which a payload hung still, and how it and its vehicles were then.

Shapes: M times, N vehicles; all in the payload's frame.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.core.payload.scenario import CableConfig
from robomarl.domains.flight.field.payload.tilt import Leaning
from robomarl.field.track import RobotTrack

CALM_S = 0.5
"""Over which places are averaged ..."""
CALM_M_S, CALM_RAD_S = 0.2, 0.2
"""... and how fast the payload may be and turn meanwhile."""
BLOCK_S = 4.0
"""Length [s] of one observation: a swing lasts for seconds, and so does wind."""
LEAST_COVER = 0.8
"""Share of the ticks that a calm time must have of every robot."""


class CalmTime(NamedTuple):
    """Observations of one robot in one calm time; `Calm` has those of its whole team as [M, ...]."""

    end_m: np.ndarray
    """[3] its end of its cable."""
    held: np.ndarray
    """[3] the cables' pulls together, over the payload's weight."""
    axis: np.ndarray
    """[3] along which its rotors push."""
    accel_m_s2: np.ndarray
    """[3] specific force that holds the vehicle up, g up + a, with the drag of its own motion removed."""
    level: np.ndarray
    """[2, 3] the world's x and y."""


class Calm(NamedTuple):
    """M calm times of N robots."""

    end_m: np.ndarray
    """[M, N, 3] the vehicles' ends of the cables."""
    held: np.ndarray
    """[M, 3] the cables' pulls together, over the payload's weight."""
    leaning: Leaning
    """How the vehicles hang in them."""
    block: np.ndarray
    """[M] which observation each belongs to."""
    place: tuple[tuple[str, int, int], ...]
    """[M] the word `payload`, the flight, and the number of the observation in that flight."""

    def toward(self, points_m: np.ndarray) -> np.ndarray:
        """[M, N, 3] unit vectors along the cables, from where they are tied to the payload [N, 3]."""
        away = self.end_m - points_m
        return away / np.linalg.norm(away, axis=-1, keepdims=True)


class HangingTeam(NamedTuple):
    """Known properties of the team that flew."""

    cables: CableConfig
    drag_per_s: float
    """Drag of a vehicle: acceleration over airspeed."""
    period_s: float
    """Time between two decisions."""


def calm_times(tracks: Sequence[RobotTrack], robots: list[str], rig: HangingTeam) -> Calm | None:
    """When the payload hung still; None where it never did, or a robot is missing."""
    found, blocks = [], []
    for flight in sorted({track.flight for track in tracks}):
        own = [next((t for t in tracks if (t.flight, t.robot) == (flight, name)), None) for name in robots]
        team = [track for track in own if track is not None and track.sensed is not None]
        if len(team) < len(robots):
            continue
        begin, end = max(t.seen_s[0] for t in team), min(t.seen_s[-1] for t in team)
        for at in np.arange(begin, end - CALM_S, CALM_S):
            seen = [calm_time(track, at, rig) for track in team]
            if all(one is not None for one in seen):
                found.append(seen)
                blocks.append((flight, int((at - begin) / BLOCK_S)))
    if not found:
        return None
    flights, place = np.array([flight for flight, _ in blocks]), tuple(("payload", *block) for block in blocks)
    end_m, held, axis, accel, level = (np.array([[one[k] for one in seen] for seen in found]) for k in range(5))
    leaning = Leaning(axis, accel, level.mean(1), flights)
    return Calm(end_m, held.mean(1), leaning, np.unique(blocks, axis=0, return_inverse=True)[1].ravel(), place)


def calm_time(track: RobotTrack, at_s: float, rig: HangingTeam) -> CalmTime | None:
    """Return a robot's observations during `CALM_S` from this time; None if the payload did not hang still."""
    rows = np.flatnonzero((track.seen_s >= at_s) & (track.seen_s < at_s + CALM_S))
    assert track.sensed is not None, "the caller has looked"
    pose = track.sensed[rows, :7]
    if len(rows) < LEAST_COVER * CALM_S / rig.period_s or not np.isfinite(pose).all():
        return None
    load, own = Rotation.from_quat(pose[:, [4, 5, 6, 3]]), Rotation.from_quat(track.quat_wxyz[rows][:, [1, 2, 3, 0]])
    middle = load.mean()
    turned = (middle.inv() * load).as_rotvec()
    since = track.seen_s[rows] - track.seen_s[rows].mean()
    bent, rate, _ = np.polyfit(since, np.concatenate([pose[:, :3], turned], 1), 2)
    if np.linalg.norm(rate[:3]) > CALM_M_S or np.linalg.norm(rate[3:]) > CALM_RAD_S:
        return None
    end = track.pos_m[rows] + own.apply(np.array(rig.cables.vehicle_point_m)) - pose[:, :3]
    up, axis = np.array([0.0, 0.0, 1.0]), own.apply([0.0, 0.0, 1.0]).mean(0)
    accel, vel = np.polyfit(since, track.vel_m_s[rows], 1)
    held, lifted = up + 2 * bent[:3] / GRAVITY_M_S2, GRAVITY_M_S2 * up + accel + rig.drag_per_s * vel
    rows = middle.inv().apply(np.stack([end.mean(0), held, axis, lifted, *np.eye(3)[:2]]))
    return CalmTime(rows[0], rows[1], rows[2], rows[3], rows[4:])
