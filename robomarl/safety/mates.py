"""Team-mates of one robot in Python floats: `barriers.mate_of` and `barriers.pair`, written out for points that yield.

It is the same formula line by line, without calls, which cost eight times the arithmetic; the tests hold it to
`batch`, which is `barriers`.
"""

import math
from itertools import combinations
from math import sqrt
from typing import NamedTuple

from robomarl.safety.barriers import SPECK
from robomarl.safety.carry import LARGE
from robomarl.safety.constants import Constants
from robomarl.safety.motion import TINY, Predicted, Vec3
from robomarl.view import Heard

ROOT = 1e-9
"""What is under a root at least; as in `barriers.braking_speed`."""


class Mate(NamedTuple):
    """What is known of a mate; see `barriers.Body`."""

    pos: Vec3
    vel: Vec3
    wait_s: float
    since_s: float
    blind: float


def read(c: Constants, heard: Heard, since_s: float) -> list[Mate] | None:
    """The mates that were heard; None where one needs a closer look: not finite, too old, missing or heard twice.

    Args:
        c: constants of the vehicle, mode `qp`.
        heard: of one robot.
        since_s: from the stamp of the own estimate to the decision's effect.
    """
    plan, found, places, oldest, least = heard.plan, [], [], c.mates.max_age_s, c.min_mates
    lead, reach, reach_m_s = c.horizon_s + c.period_s, c.plan_reach_m**2, c.plan_reach_m_s**2
    blind, add = 1.0 if c.look_ahead_m else 0.0, found.append
    lists = (heard.mask, heard.pos_m, heard.vel_m_s, heard.age_s, plan.pos_m, plan.vel_m_s)
    for there, pos, vel, age, way, speed in zip(*[a.tolist() for a in lists], strict=True):
        if not there:
            continue
        (x, y, z), (vx, vy, vz), (qx, qy, qz), age = pos, vel, way, abs(age)
        # A sum of sizes is below a limit only if all of them are, and are numbers.
        if not (abs(x) + abs(y) + abs(z) + abs(vx) + abs(vy) + abs(vz) < LARGE and age <= oldest):
            return None
        if len(places) < least:
            places.append((x + vx * age, y + vy * age, z + vz * age))
        since = age + since_s if age + since_s > 0.0 else 0.0
        # The plan, where there is one and the mate can have got there; see `barriers.mate_of`.
        x, y, z, (wx, wy, wz) = qx - x, qy - y, qz - z, speed
        moved, x, y, z = x * x + y * y + z * z > 0.0, x - vx * lead, y - vy * lead, z - vz * lead
        vx, vy, vz = wx - vx, wy - vy, wz - vz
        if moved and x * x + y * y + z * z <= reach and vx * vx + vy * vy + vz * vz <= reach_m_s:
            add(Mate(way, speed, since - lead, since, 0.0))
        else:
            add(Mate(pos, vel, since, since, blind))
    if len(found) < least or (least > 1 and not _are_apart(c, places)):
        return None
    return found


def _are_apart(c: Constants, places: list[Vec3]) -> bool:
    """Whether these are certainly as many robots: then it does not matter who is heard twice."""
    return all(math.dist(a, b) > 2 * c.mates.error_m for a, b in combinations(places, 2))


class MateRows:
    """Makes the rows of team-mates.

    Args:
        c: constants of the vehicle, mode `qp`.
    """

    def __init__(self, c: Constants) -> None:
        """Gather what does not change."""
        kind = c.mates
        self._pair = (kind.squash, *kind.reach_m_s2, kind.speed_m_s, kind.separation_m)
        self._errors = kind.error_m_s, kind.error_m, kind.drift_m_s2, c.blind_m_s, c.look_ahead_m
        self._brake = c.brake_m_s2, c.slope_per_s, c.brake_m_s2 / c.slope_per_s
        self._step = c.step_s, c.keep, c.accel_error_m_s2, c.loose_m_s2

    def add(self, own: Predicted, drift: Vec3, mates: list[Mate], to: tuple[list[Vec3], list[float]]) -> float:
        """Add to `to` the normals and bounds that may bind, on the command; returns the smallest gap [m]."""
        (squash, rx, ry, rz, top, apart), (rate_m_s, error_m, grows, blind_m_s, ahead_m) = self._pair, self._errors
        (px, py, pz), (vx, vy, vz), (ax, ay, az), (brake, slope, knee) = *own.motion, drift, self._brake
        step, keep, error, loose = self._step
        keep, unsure, unsure_m_s = keep if own.keep is None else own.keep, own.error_m + error_m, own.error_m_s
        (normals, bounds), least = to, math.inf
        for (qx, qy, qz), (wx, wy, wz), wait, since, blind in mates:
            x, y, z = px - qx - wx * wait, py - qy - wy * wait, (pz - qz - wz * wait) * squash
            far = sqrt(x * x + y * y + z * z + TINY)
            nx, ny, nz = x / far, y / far, z / far * squash
            lean = sqrt(nx * nx + ny * ny + nz * nz + SPECK)
            wait = wait if wait > 0.0 else 0.0
            gain = (rx * abs(nx) + ry * abs(ny) + rz * abs(nz)) * wait
            toward = nx * wx + ny * wy + nz * wz
            room, rate = top * lean - toward, rate_m_s + grows * since
            room = room if room > 0.0 else 0.0
            fast = toward + (rate + blind * blind_m_s) * lean + (gain if gain < room else room)
            fast, gain = fast if fast > 0.0 else 0.0, gain * 0.5
            taken = apart + (unsure + (rate + rate_m_s) * 0.5 * since + blind * ahead_m) * lean
            taken += (gain if gain < room else room) * wait + fast * fast / (2 * brake * lean)
            now = _speed(far - taken, brake * lean, slope, knee * lean) + nx * vx + ny * vy + nz * vz
            taken, doubt = taken - toward * step if toward > 0.0 else taken, unsure_m_s * lean
            least = far if far < least else least
            x, y, z = x + (vx - wx) * step, y + (vy - wy) * step, z + (vz - wz) * squash * step
            far = sqrt(x * x + y * y + z * z + TINY)
            nx, ny, nz = x / far, y / far, z / far * squash
            lean = sqrt(nx * nx + ny * ny + nz * nz + SPECK)
            later = _speed(far - taken, brake * lean, slope, knee * lean) + nx * vx + ny * vy + nz * vz - doubt
            bound = (later - keep * (now - doubt)) / (step * lean) - error
            nx, ny, nz = -nx / lean, -ny / lean, -nz / lean
            bound -= nx * ax + ny * ay + nz * az
            if not bound >= loose:
                normals.append((nx, ny, nz))
                bounds.append(bound)
        return least - apart


def _speed(clearance_m: float, brake_m_s2: float, slope_per_s: float, knee_m_s: float) -> float:
    """`barriers.braking_speed`."""
    line = clearance_m * slope_per_s
    if line < knee_m_s:
        return line if line > 0.0 else 0.0
    square = 2 * brake_m_s2 * clearance_m - knee_m_s * knee_m_s
    return sqrt(square if square > ROOT else ROOT)
