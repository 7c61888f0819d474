"""Team-mates of one robot in Python floats: `pairs.mate_of` and `pairs.pair`, written out for points that yield.

It is the same formula line by line, without calls, which cost eight times the arithmetic; the tests hold it to
`batch`, which is `barriers`.
"""

import math
from itertools import combinations
from math import exp, sqrt
from typing import NamedTuple

from robomarl.safety.model.barriers import SPECK
from robomarl.safety.model.bias import LARGE
from robomarl.safety.model.constants import Constants
from robomarl.safety.model.motion import TINY, Predicted, Vec3
from robomarl.safety.model.pairs import NO_STOP_M
from robomarl.view import Heard

ROOT = 1e-9
"""What is under a root at least; as in `barriers.braking_speed`."""


class Mate(NamedTuple):
    """What is known of a mate; see `pairs.Body`."""

    pos: Vec3
    vel: Vec3
    wait_s: float
    since_s: float
    blind: float
    late_m: float
    early_s: float


def read(c: Constants, heard: Heard, since_s: float) -> list[Mate] | None:
    """The mates that were heard; None where one needs a closer look: not finite, too old, missing or heard twice.

    Args:
        c: constants of the vehicle, mode `qp`.
        heard: of one robot.
        since_s: from the stamp of the own estimate to the decision's effect.
    """
    plan, found, places, oldest, least = heard.plan, [], [], c.mates.max_age_s, c.min_mates
    lead, reach, reach_m_s = c.horizon_s + c.period_s, c.plan_reach_m**2, c.plan_reach_m_s**2
    blind, twice, add = 1.0 if c.look_ahead_m else 0.0, 2 * c.brake_m_s2, found.append
    lists = (heard.mask, heard.pos_m, heard.vel_m_s, heard.age_s, plan.pos_m, plan.vel_m_s, plan.stop_m)
    for there, pos, vel, age, way, speed, (sx, sy, sz) in zip(*[a.tolist() for a in lists], strict=True):
        if not there:
            continue
        (x, y, z), (vx, vy, vz), (qx, qy, qz), age = pos, vel, way, abs(age)
        # A sum of sizes is below a limit only if all of them are, and are numbers.
        if not (abs(x) + abs(y) + abs(z) + abs(vx) + abs(vy) + abs(vz) < LARGE and age <= oldest):
            return None
        if len(places) < least:
            places.append((x + vx * age, y + vy * age, z + vz * age))
        since = age + since_s if age + since_s > 0.0 else 0.0
        # The plan, where there is one and the mate can have got there; see `pairs.mate_of`.
        sx, sy, sz = sx - qx, sy - qy, sz - qz
        x, y, z, (wx, wy, wz) = qx - x, qy - y, qz - z, speed
        late = sqrt(sx * sx + sy * sy + sz * sz + TINY) - (wx * wx + wy * wy + wz * wz) / twice
        moved, x, y, z = x * x + y * y + z * z > 0.0, x - vx * lead, y - vy * lead, z - vz * lead
        vx, vy, vz = wx - vx, wy - vy, wz - vz
        fits = x * x + y * y + z * z <= reach and vx * vx + vy * vy + vz * vz <= reach_m_s
        if moved and fits and late > -NO_STOP_M:
            early = c.spread_s if since > lead else 0.0
            add(Mate(way, speed, since - lead, since, 0.0, late if late > 0.0 else 0.0, early))
        else:
            add(Mate(pos, vel, since, since, blind, 0.0, 0.0))
    if len(found) < least or (least > 1 and not _are_apart(c, places)):
        return None
    return found


def _are_apart(c: Constants, places: list[Vec3]) -> bool:
    """Whether these are certainly as many robots: then it does not matter who is heard twice."""
    return all(math.dist(a, b) > 2 * c.mates.error_m for a, b in combinations(places, 2))


class Sight(NamedTuple):
    """See `pairs._Sight`; a point's."""

    x: float
    y: float
    z: float
    far: float
    nx: float
    ny: float
    nz: float
    lean: float
    taken: float
    reach: float
    turn: float
    seems: float
    phantom: float


class MateRows:
    """Makes the rows of team-mates.

    Args:
        c: constants of the vehicle, mode `qp`.
    """

    def __init__(self, c: Constants) -> None:
        """Gather what does not change."""
        kind = c.mates
        self._pair = (kind.squash, *kind.reach_m_s2, *kind.bias_m_s2, kind.speed_m_s, kind.separation_m)
        self._errors = kind.error_m_s, kind.error_m, kind.drift_m_s2, c.blind_m_s, c.look_ahead_m
        self._brake = c.brake_m_s2, c.slope_per_s, c.brake_m_s2 / c.slope_per_s
        self._step = c.step_s, c.keep, c.sudden_keep, c.sudden_share
        self._lost = c.accel_error_m_s2, c.floor_m_s2, c.loose_m_s2
        self._own = c.own_error_m, c.own_error_m_s
        self._lead, self._spend = c.horizon_s + c.period_s, c.spend_per_s
        self._across = math.hypot(*kind.reach_m_s2)

    def add(
        self, own: Predicted, mates: list[Mate], to: tuple[list[Vec3], list[float], list[float], list[float]]
    ) -> tuple[float, float]:
        """Add to `to` the normals, bounds and floors that may bind.

        Returns:
            The smallest gap [m], and by how many brakes a row asks for more than braking.
        """
        (normals, bounds, floors, calms), least, pressed = to, math.inf, 0.0
        for mate in mates:
            sight, rests = self._sight(own, mate), False
            if mate.early_s > 0.0:
                sight, rests = self._better(own, mate, sight)
            least = sight.far if sight.far < least else least
            normal, bound, floor, calm = self._row(own, sight, mate.vel, rests)
            if not bound >= self._lost[2]:
                normals.append(normal)
                bounds.append(bound)
                floors.append(floor)
                calms.append(calm)
                more = (floor - bound) / self._brake[0]
                pressed = more if more > pressed else pressed
        return least - self._pair[-1], pressed

    def _sight(self, own: Predicted, mate: Mate) -> Sight:
        """`pairs._sight`."""
        squash, wait = self._pair[0], mate.wait_s
        (px, py, pz), (qx, qy, qz), (wx, wy, wz) = own.motion.pos, mate.pos, mate.vel
        x, y, z = px - qx - wx * wait, py - qy - wy * wait, (pz - qz - wz * wait) * squash
        far = sqrt(x * x + y * y + z * z + TINY)
        nx, ny, nz = x / far, y / far, z / far * squash
        lean = sqrt(nx * nx + ny * ny + nz * nz + SPECK)
        return self._known(own, mate, Sight(x, y, z, far, nx, ny, nz, lean, 0.0, 0.0, 0.0, 0.0, 0.0))[0]

    def _known(self, own: Predicted, mate: Mate, sight: Sight) -> tuple[Sight, float]:
        """`pairs._known`, and the largest speed towards us."""
        _, rx, ry, rz, kx, ky, kz, top, apart = self._pair
        rate_m_s, error_m, grows, blind_m_s, ahead_m = self._errors
        (ux, uy, uz), (_, (wx, wy, wz), wait, since, blind, late, early) = own.unsure_m, mate
        x, y, z, far, nx, ny, nz, lean, _, _, turn, _, _ = sight
        wait, fx, fy, fz = wait if wait > 0.0 else 0.0, abs(nx), abs(ny), abs(nz)
        reach, pushed = rx * fx + ry * fy + rz * fz, kx * fx + ky * fy + kz * fz
        gain, way = reach * (wait + 2 * early), reach * (wait * wait / 2 + 2 * early * wait + early * early)
        toward = nx * wx + ny * wy + nz * wz
        room, rate = top * lean - toward, rate_m_s + grows * since
        room = room if room > 0.0 else 0.0
        seems = rate * lean + pushed * since
        fast = toward + seems + blind * blind_m_s * lean + (gain if gain < room else room)
        blur = (self._own[0] + error_m + (rate + rate_m_s) * 0.5 * since + late + blind * ahead_m) * lean
        room = room * (wait + early)
        blur += (way if way < room else room) + pushed * (since * since / 2) + ux * fx + uy * fy + uz * fz
        now, taken, along = blur / far if blur < far else 1.0, apart + blur, toward / lean
        turn, square = now if now > turn else turn, wx * wx + wy * wy + wz * wz - along * along
        fast += turn * lean * sqrt((square if square > 0.0 else 0.0) + TINY)
        fast = fast if fast > 0.0 else 0.0
        taken = taken + fast * fast / (2 * self._brake[0] * lean)
        return Sight(x, y, z, far, nx, ny, nz, lean, taken, reach, turn, seems, 0.0), fast

    def _doubt(self, own: Predicted, sight: Sight) -> tuple[float, float]:
        """`pairs._doubt`, and the speed away."""
        (vx, vy, vz), (ux, uy, uz), lean = own.motion.vel, own.unsure_m_s, sight.lean
        nx, ny, nz = sight[4:7]
        doubt = self._own[1] * lean + abs(nx) * ux + abs(ny) * uy + abs(nz) * uz
        away = nx * vx + ny * vy + nz * vz
        along = away / lean
        square = vx * vx + vy * vy + vz * vz - along * along
        return doubt + sight.turn * lean * sqrt((square if square > 0.0 else 0.0) + TINY), away

    def _better(self, own: Predicted, mate: Mate, first: Sight) -> tuple[Sight, bool]:
        """`pairs._better`."""
        lead, wait, (wx, wy, wz) = self._lead, mate.wait_s, mate.vel
        across, early = first.turn * self._across, mate.early_s
        still = mate._replace(wait_s=0.0, since_s=lead if lead < mate.since_s else mate.since_s, early_s=0.0)
        toward = first.nx * wx + first.ny * wy + first.nz * wz
        second, fast = self._known(own, still, first._replace(far=first.far + toward * wait))
        lean, (doubt, away) = second.lean, self._doubt(own, second)
        calm = second.far - second.taken
        # `pairs._turned`
        more = fast + across * (wait + 2 * early)
        taken = second.taken + across * (wait * wait / 2 + 2 * early * wait + early * early)
        taken = taken + (more * more - fast * fast) / (2 * self._brake[0] * lean)
        closing = doubt - away
        closing, (brake, slope, knee) = closing if closing > 0.0 else 0.0, self._brake
        knee, brake = knee * lean, brake * lean
        need = closing / slope if closing < knee else (closing * closing + knee * knee) / (2 * brake)
        clear = second.far - taken
        most = (clear - need if clear > need else 0.0) + closing * wait + second.reach * wait * wait / 2
        spent = (1 - exp(-self._spend * wait)) * most
        rests = clear - spent > first.far - first.taken
        taken = first.far - (clear - spent) if rests else first.taken
        phantom = (calm if calm < 0.0 else 0.0) - (first.far - taken)
        return first._replace(taken=taken, phantom=phantom if phantom > 0.0 else 0.0), rests

    def _row(self, own: Predicted, sight: Sight, mate_vel: Vec3, rests: bool) -> tuple[Vec3, float, float, float]:
        """Normal, bound, floor and calm; the rest of `pairs.pair`, and `barriers.on_command`."""
        x, y, z, far, nx, ny, nz, lean, taken, _, _, seems, phantom = sight
        (vx, vy, vz), (wx, wy, wz), (brake, slope, knee) = own.motion.vel, mate_vel, self._brake
        (bx, by, bz), (ex, ey, ez), (lx, ly, lz) = own.bias, own.doubt, own.last
        (step, keep, sudden_keep, share), (error, floor, _) = self._step, self._lost
        keep, squash = keep if own.keep is None or own.keep < keep else own.keep, self._pair[0]
        doubt, away = self._doubt(own, sight)
        now, away = _speed(far - taken, brake * lean, slope, knee * lean) + away - doubt, away - doubt
        calm = _speed(far - taken + phantom, brake * lean, slope, knee * lean) + away if phantom else 0.0
        toward = nx * wx + ny * wy + nz * wz
        taken = taken + doubt * step - (toward if rests or toward > -seems else -seems) * step
        x, y, z = x + (vx - wx) * step, y + (vy - wy) * step, z + (vz - wz) * squash * step
        far = sqrt(x * x + y * y + z * z + TINY)
        nx, ny, nz = x / far, y / far, z / far * squash
        lean = sqrt(nx * nx + ny * ny + nz * nz + SPECK)
        away = nx * vx + ny * vy + nz * vz - doubt
        later = _speed(far - taken, brake * lean, slope, knee * lean) + away
        then = _speed(far - taken + phantom, brake * lean, slope, knee * lean) + away if phantom else 0.0
        nx, ny, nz, scale = -nx / lean, -ny / lean, -nz / lean, 1 / (step * lean)
        lost = error + abs(nx) * ex + abs(ny) * ey + abs(nz) * ez + nx * bx + ny * by + nz * bz
        last = nx * lx + ny * ly + nz * lz
        bound = _granted((later - keep * now) * scale, (later - sudden_keep * now) * scale, lost, (last, share))
        if phantom:
            calm = _granted((then - keep * calm) * scale, (then - sudden_keep * calm) * scale, lost, (last, share))
        return (nx, ny, nz), bound, floor - lost, calm if phantom else bound


def _granted(most: float, sudden: float, lost: float, before: tuple[float, float]) -> float:
    """`barriers._granted`; `before`: the last command, and the share."""
    last, share = before
    more = (sudden if sudden > most else most) - lost - last
    most, more = most - lost, last + (more * share if more > 0.0 else more)
    return most if most < more else more


def _speed(clearance_m: float, brake_m_s2: float, slope_per_s: float, knee_m_s: float) -> float:
    """`barriers.braking_speed`."""
    line = clearance_m * slope_per_s
    if line < knee_m_s:
        return line
    square = 2 * brake_m_s2 * clearance_m - knee_m_s * knee_m_s
    return sqrt(square if square > ROOT else ROOT)
