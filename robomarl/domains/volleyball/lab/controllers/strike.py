"""`BumpLaw`, `PassLaw`, `HitLaw`: the ball is met at a chosen height, with a chosen normal and normal speed of the
racket. Array-generic.

The ball's flight says when and where it falls through the height of the contact. Until shortly
before, the vehicle waits at a post below; then a table of linear-quadratic gains over the steps to
go brings it to the place, with the tilt and the speed of the blow. Its tangential speed is free.
"""

from dataclasses import dataclass
from typing import NamedTuple

from robomarl.core.geometry import components, join, namespace
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec3, cross
from robomarl.domains.volleyball.core.ballistics import WantedBlow, rise_speed, time_to_fall, wanted_blow
from robomarl.domains.volleyball.core.terminal_lq import gains_at, horizontal_table, vertical_table
from robomarl.domains.volleyball.lab.physics.ball import played
from robomarl.domains.volleyball.lab.physics.drone import wrench_matrix
from robomarl.domains.volleyball.lab.scenario import VolleyScenario

CIRCLE_M = (-4.5, 0.0)
"""Middle [m] of the circle that a spike is to land in."""
LANDED_M = 0.2
"""Height [m] of the ball's middle at which it counts as landed."""
STRAIGHT_M_S = 0.3
"""Horizontal speed [m/s] below which a ball falls straight."""
WALK_M_S, WALK_M_S2 = 3.0, 7.0
"""Largest speed and acceleration of each axis on the way to a post."""
TILT = 1.3
"""Largest commanded tilt, the tangent of its angle."""
STEPS = 50
"""Rows of the tables of gains: 1 s."""
READS = ("drone_position", "velocity", "spin_in_world", "body_front", "body_up", "throttles")
BALL = ("anchor_offset", "ball_offset", "ball_velocity")


class StrikeGains(NamedTuple):
    """Numbers of the law; costs are relative to each other."""

    level_m: float = 2.45
    """Height of the ball's middle at the contact."""
    apex_m: float = 3.62
    """Height that the ball is to reach after the contact."""
    home: float = 0.7
    """Share of the ball's distance to its anchor that a contact takes off."""
    below_m: float = 0.17
    """Distance of the post below the place of the contact."""
    lead_s: float = 0.4
    """Time before the contact at which the vehicle leaves the post."""
    offset_cost: float = 3.0
    """Cost of the squared offset [m] of the contact."""
    tilt_cost: float = 3.0
    """Cost of the squared error of the tilt."""
    height_cost: float = 10.0
    """Cost of the squared error of the height [m]."""
    speed_cost: float = 3.0
    """Cost of the squared error of the vertical speed [m/s]."""
    tilt_effort: float = 0.01
    """Cost of the squared commanded tilt in each step."""
    lift_effort: float = 0.001
    """Cost of the squared commanded vertical acceleration [m/s^2] in each step."""
    place_per_s2: float = 8.0
    """Towards the post: acceleration over offset ..."""
    slow_per_s: float = 4.5
    """... and over speed."""
    restitution: float = 0.785
    """Restitution that the law assumes."""
    first_m: float = 2.5
    """In tasks with turns: height of the contact for a ball that falls straight, the first one."""


class ComingContact(NamedTuple):
    """The coming contact, [...] each."""

    in_s: Array
    """Time until then."""
    place: Vec3
    """Place of the vehicle's centre [m] for an upright vehicle, world."""
    ball_m_s: Vec3
    """Velocity of the ball before it."""
    ball_m: tuple[Array, Array]
    """Place of the ball in the plane."""


@dataclass(frozen=True)
class CourtSeen:
    """Observation of the law, taken apart."""

    pos: Vec3
    vel: Vec3
    spin: Vec3
    front: Vec3
    up: Vec3
    throttle: tuple[Array, ...]
    anchor: Vec3
    """Place of the anchor [m]."""
    ball: Vec3
    """Place of the ball [m]."""
    ball_vel: Vec3
    rest: Array
    """[..., R] further elements."""


def seen_of(obs: Array) -> CourtSeen:
    """Take an observation [..., O] apart."""
    parts = [components(obs[..., i : i + 3]) for i in (0, 3, 6, 9, 12, 19, 22, 25)]
    pos, vel, spin, front, up, off, away, fast = parts
    throttle = tuple((obs[..., 15 + i] + 1) / 2 for i in range(4))
    anchor = (pos[0] - off[0], pos[1] - off[1], pos[2] - off[2])
    ball = (pos[0] - away[0], pos[1] - away[1], pos[2] - away[2])
    return CourtSeen(pos, vel, spin, front, up, throttle, anchor, ball, fast, obs[..., 28:])


class StrikeLaw:
    """(drone, anchor, ball) -> acceleration and yaw rate; tasks say what the ball is to do."""

    further: tuple[str, ...] = ()
    """Further features that the law reads."""
    search_least = StrikeGains(*(1.0, 1.0, 0.0, 0.0, 0.05, 0.1, 0.1, 0.1, 0.1, 1e-4, 1e-5, 1.0, 1.0, 0.5, 1.0))

    def __init__(self, scenario: VolleyScenario, gains: StrikeGains | None = None) -> None:
        """Work out the tables of gains."""
        self._scenario = scenario
        self.search_from = self.first()
        self.gains = gains or self.search_from
        chosen, dt_s, vehicle = self.gains, scenario.period_s, scenario.vehicle_config
        lag_s = vehicle.rotors.time_constant_s
        model = vehicle.control.tilt_per_s, vehicle.control.rate_per_s, lag_s
        worth = (chosen.offset_cost, chosen.tilt_cost), (chosen.height_cost, chosen.speed_cost)
        self._flat = horizontal_table(model, worth[0], chosen.tilt_effort, dt_s, STEPS)
        self._high = vertical_table(lag_s, worth[1], chosen.lift_effort, dt_s, STEPS)
        names = (*READS, *BALL, *self.further)
        self.observation = ObservationSpec(tuple(map(ObservationField, names)), scenario.rule)

    def first(self) -> StrikeGains:
        """Gains at the start of a search."""
        return StrikeGains()

    @property
    def search_step(self) -> StrikeGains:
        """Return half of the gains at the start of a search, so that they at most double."""
        return StrikeGains(*(value / 2 for value in self.search_from))

    def with_gains(self, gains: StrikeGains) -> "StrikeLaw":
        """Return this law with other gains."""
        return type(self)(self._scenario, gains)

    def act(self, obs: Array) -> Array:
        """Observation [..., O] -> command [..., 4]."""
        seen = seen_of(obs)
        meeting = self.meeting(seen)
        tilt, lift = self.strike(seen, meeting, self.blow(seen, meeting))
        wait = self.waits(seen, meeting)
        return self.sent(seen, meeting, (tilt, lift), wait)

    def level(self, seen: CourtSeen) -> Array:
        """Height of the ball's middle at the coming contact [m]."""
        return self.gains.level_m + 0 * seen.ball[2]

    def meeting(self, seen: CourtSeen) -> ComingContact:
        """Return the coming contact at the height of the contact."""
        level = self.level(seen)
        in_s = time_to_fall(seen.ball[2], seen.ball_vel[2], level)
        (x, y, _), (vx, vy, vz) = seen.ball, seen.ball_vel
        place = x + in_s * vx, y + in_s * vy
        low = level - sum(played(self._scenario))
        return ComingContact(in_s, (*place, low + 0 * in_s), (vx, vy, vz - GRAVITY_M_S2 * in_s), place)

    def blow(self, seen: CourtSeen, meeting: ComingContact) -> WantedBlow:
        """Return the blow that the task asks for."""
        to = self.target(seen, meeting)
        rise = rise_speed(self.level(seen), self.gains.apex_m)
        flight_s = 2 * rise / GRAVITY_M_S2
        after = tuple((goal - now) / flight_s for goal, now in zip(to, meeting.ball_m, strict=True))
        return wanted_blow(meeting.ball_m_s, (after[0], after[1], rise), self.gains.restitution)

    def target(self, seen: CourtSeen, meeting: ComingContact) -> tuple[Array, Array]:
        """Place in the plane at which the ball is to be met next."""
        raise NotImplementedError

    def post(self, seen: CourtSeen, meeting: ComingContact) -> Vec3:
        """Place to wait at."""
        x, y, z = meeting.place
        return x, y, z - self.gains.below_m

    def waits(self, seen: CourtSeen, meeting: ComingContact) -> Array:
        """[...] bool: the vehicle stays at its post for now."""
        return meeting.in_s > self.gains.lead_s

    def strike(self, seen: CourtSeen, meeting: ComingContact, blow: WantedBlow) -> tuple[tuple[Array, Array], Array]:
        """Commanded tilt along x and y, and vertical acceleration [m/s^2], on the way to the contact."""
        to_go = meeting.in_s / self._scenario.period_s
        flat, high = gains_at(self._flat, to_go), gains_at(self._high, to_go)
        turning, swinging = cross(seen.spin, seen.up), cross(self.turned(seen), seen.up)
        sunk = self.sinking(blow)
        found: list[Array] = []
        for axis in (0, 1):
            up, wanted = namespace(seen.up[2]).maximum(seen.up[2], 0.2), blow.normal[axis] / blow.normal[2]
            state = (
                seen.pos[axis] - meeting.place[axis] + sunk[axis],
                seen.vel[axis],
                seen.up[axis] / up,
                turning[axis] / up,
                swinging[axis] / up,
                wanted,
            )
            found.append(-sum(flat[..., i] * value for i, value in enumerate(state)))
        sideways = seen.vel[0] * blow.normal[0] + seen.vel[1] * blow.normal[1]
        speed = (blow.speed_m_s - sideways) / blow.normal[2]
        state = (seen.pos[2] - meeting.place[2] - sunk[2], seen.vel[2], self.lift(seen), speed)
        return (found[0], found[1]), -sum(high[..., i] * value for i, value in enumerate(state))

    def sinking(self, blow: WantedBlow) -> Vec3:
        """Offset of a tilted vehicle's centre from an upright one's at the contact [m]: (along x, along y, upwards)."""
        reach = sum(played(self._scenario))
        return reach * blow.normal[0], reach * blow.normal[1], reach * (1 - blow.normal[2])

    def turned(self, seen: CourtSeen) -> Vec3:
        """Angular acceleration across body z [rad/s^2], world frame, by the rotors' speeds."""
        vehicle = self._scenario.vehicle_config
        thrusts = [vehicle.rotors.max_thrust_n * t * t for t in seen.throttle]
        _, roll, pitch, _ = wrench_matrix(vehicle).tolist()
        torques = (sum(k * t for k, t in zip(row, thrusts, strict=True)) for row in (roll, pitch))
        about_x, about_y = (t / j for t, j in zip(torques, vehicle.body.inertia_kg_m2, strict=False))
        x, y, z = (about_x * f + about_y * s for f, s in zip(seen.front, cross(seen.up, seen.front), strict=True))
        return x, y, z

    def lift(self, seen: CourtSeen) -> Array:
        """Vertical acceleration now [m/s^2], by the rotors' speeds."""
        vehicle = self._scenario.vehicle_config
        force = sum(t * t for t in seen.throttle) * (vehicle.max_lift_m_s2 / 4)
        return force * seen.up[2] - GRAVITY_M_S2

    def sent(
        self, seen: CourtSeen, meeting: ComingContact, strike: tuple[tuple[Array, Array], Array], waits: Array
    ) -> Array:
        """Return the command [..., 4]."""
        xp, gains, post = namespace(seen.pos[0]), self.gains, self.post(seen, meeting)
        still: list[Array] = []
        for goal, place, speed in zip(post, seen.pos, seen.vel, strict=True):
            wanted = xp.clip(gains.place_per_s2 / gains.slow_per_s * (goal - place), -WALK_M_S, WALK_M_S)
            still.append(xp.clip(gains.slow_per_s * (wanted - speed), -WALK_M_S2, WALK_M_S2))
        limits = self._scenario.vehicle_config.limits
        lift = xp.clip(strike[1], limits.accel_min_m_s2[2], limits.accel_max_m_s2[2])
        pushes = [xp.clip(t, -TILT, TILT) * (GRAVITY_M_S2 + lift) for t in strike[0]]
        each = [xp.where(waits, a, b) for a, b in zip(still, (*pushes, lift), strict=True)]
        return join([*each, each[0] * 0])


class BumpLaw(StrikeLaw):
    """`volley_bump`: the ball goes up again, back over the anchor."""

    def target(self, seen: CourtSeen, meeting: ComingContact) -> tuple[Array, Array]:
        """Return a place between the ball's contact and the anchor."""
        x, y = (now + self.gains.home * (seen.anchor[i] - now) for i, now in enumerate(meeting.ball_m))
        return x, y


class PassLaw(StrikeLaw):
    """`volley_bump_pass`: the ball goes over to the other drone's post; between its hits a drone waits at its own."""

    further = ("turn", "number")

    def first(self) -> StrikeGains:
        """Gains at the start of a search: `home` is the distance [m] of the posts from y = 0."""
        return StrikeGains(*(2.42, 4.05, 1.03, 0.16, 0.3, 1.24, 3.6, 4.9, 3.5, 0.032, 0.0009, 6.1, 4.3, 0.73, 2.32))

    def level(self, seen: CourtSeen) -> Array:
        """Height of the coming contact [m]; a drone does not climb far to the first ball, which comes soon."""
        return namespace(seen.pos[0]).where(self.is_first(seen), self.gains.first_m, self.gains.level_m)

    def is_first(self, seen: CourtSeen) -> Array:
        """[...] bool: the ball falls straight, so it has not been hit yet."""
        vx, vy, _ = seen.ball_vel
        return vx * vx + vy * vy < STRAIGHT_M_S**2

    def target(self, seen: CourtSeen, meeting: ComingContact) -> tuple[Array, Array]:
        """Return the other drone's post."""
        return seen.anchor[0], -self.own_y(seen)

    def own_y(self, seen: CourtSeen) -> Array:
        """Place of the drone's post along y [m]."""
        return namespace(seen.anchor[1]).sign(seen.anchor[1]) * self.gains.home

    def has_turn(self, seen: CourtSeen) -> Array:
        """[...] bool."""
        return (seen.rest[..., 0:2] * seen.rest[..., 2:4]).sum(-1) > 0.5

    def post(self, seen: CourtSeen, meeting: ComingContact) -> Vec3:
        """Return the place below the contact, or the drone's own post if the other one has the turn."""
        xp, mine, at = namespace(seen.pos[0]), self.has_turn(seen), super().post(seen, meeting)
        own = (seen.anchor[0], self.own_y(seen), at[2])
        x, y, z = (xp.where(mine, a, b) for a, b in zip(at, own, strict=True))
        return x, y, z

    def waits(self, seen: CourtSeen, meeting: ComingContact) -> Array:
        """[...] bool: the other drone has the turn, or it is too early; for the first ball it never is."""
        return (super().waits(seen, meeting) & ~self.is_first(seen)) | ~self.has_turn(seen)


class HitLaw(StrikeLaw):
    """`volley_hit`: the racket's tilt and normal speed are gains, for the farthest flight towards -x."""

    def first(self) -> StrikeGains:
        """Gains at the start of a search: `home` is the tilt towards -x, `apex_m` the normal speed [m/s]."""
        return StrikeGains(level_m=2.0, apex_m=3.0, home=0.6, lead_s=0.75, below_m=0.3)

    def blow(self, seen: CourtSeen, meeting: ComingContact) -> WantedBlow:
        """Return the wanted tilt, and the wanted normal speed."""
        zero, tilt = 0 * meeting.in_s, self.gains.home
        size = (1 + tilt * tilt) ** 0.5
        return WantedBlow((zero - tilt / size, zero, zero + 1 / size), zero + self.gains.apex_m)

    def post(self, seen: CourtSeen, meeting: ComingContact) -> Vec3:
        """Wait over the anchor once the ball is on its way."""
        x, y, z = super().post(seen, meeting)
        xp, is_gone = namespace(x), self.is_gone(seen)
        each = (xp.where(is_gone, a, b) for a, b in zip(seen.anchor, (x, y, z), strict=True))
        return tuple(each)

    def waits(self, seen: CourtSeen, meeting: ComingContact) -> Array:
        """[...] bool: the ball is gone, or it is too early."""
        return super().waits(seen, meeting) | self.is_gone(seen)

    def is_gone(self, seen: CourtSeen) -> Array:
        """[...] bool: the ball flies towards -x, so it has been hit."""
        return seen.ball_vel[0] < -1.0


class SpikeLaw(PassLaw):
    """`volley_spike_easy`: the setter hits the ball over to the spiker's post, who lobs it into the circle."""

    def first(self) -> StrikeGains:
        """Gains at the start of a search: `home` is the distance [m] of the posts from y = 0."""
        return StrikeGains(level_m=3.0, apex_m=4.5, home=1.0, lead_s=0.5)

    def target(self, seen: CourtSeen, meeting: ComingContact) -> tuple[Array, Array]:
        """Return the spiker's post for the setter, and the place for the spiker from which the ball falls on into the
        circle: the ball is aimed at the height of the contact, so it flies farther by the time that it falls from
        there.
        """
        xp, is_spiker = namespace(seen.pos[0]), seen.rest[..., 3] > 0.5
        level = self.level(seen)
        rise = rise_speed(level, self.gains.apex_m)
        share = 2 * rise / GRAVITY_M_S2 / time_to_fall(level, rise, LANDED_M)
        lob = tuple(now + share * (goal - now) for now, goal in zip(meeting.ball_m, CIRCLE_M, strict=True))
        mate = super().target(seen, meeting)
        return xp.where(is_spiker, lob[0], mate[0]), xp.where(is_spiker, lob[1], mate[1])
