"""`StrikeLaw`, `BumpLaw`: the ball is met at a chosen height, with a chosen normal and normal speed of the racket.
Array-generic.

The ball's flight says when and where it falls through the height of the contact. Until shortly
before, the vehicle waits at a post below; then a table of linear-quadratic gains over the steps to
go brings it to the place, with the tilt and the speed of the blow. Its tangential speed is free.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from robomarl.core.geometry import components, join, namespace
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec3, cross
from robomarl.domains.volleyball.core.ballistics import WantedBlow, rise_speed, time_to_fall, wanted_blow
from robomarl.domains.volleyball.core.terminal_lq import gains_at, horizontal_table, vertical_table
from robomarl.domains.volleyball.lab.physics.ball import played
from robomarl.domains.volleyball.lab.physics.drone import wrench_matrix
from robomarl.domains.volleyball.lab.scenario import VolleyScenario

WALK_M_S, WALK_M_S2, SINK_M_S2 = 2.5, 5.0, -3.0
"""Largest speed and acceleration of each axis on the way to a post, and the least vertical acceleration: a vehicle in
free fall cannot steer."""
WALK_TILT = 0.4
"""Largest tilt along each axis on that way, the tangent of its angle."""
TILT = 1.3
"""Largest commanded tilt, the tangent of its angle."""
CEILING_M, CEILING_PER_S2, CEILING_PER_S = 2.485, 100.0, 20.0
"""`volley_bump`: height [m] at which a vehicle stops that rises, below the 2.5 m of the rules; the acceleration falls
with the missing height and with the speed."""
LEAN_S = 0.2
"""Time [s] before a contact in which the tilt goes to the wanted one."""
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
    """In tasks with turns: height of the contact for a ball that falls straight, the first one ..."""
    first_apex_m: float = 4.0
    """... and the height that it is to reach after that contact."""
    front_m: float = 0.0
    """`volley_spike_hard`: distance [m] of the spiker's contact from the net ..."""
    fall_m_s: float = 0.0
    """... the ball's speed downwards after it ..."""
    beyond_m: float = 0.0
    """... and the place that it is aimed at: distance [m] from the net ..."""
    aside_m: float = 0.0
    """... and from the middle of the court."""
    set_m: float = 0.0
    """Matches: height of the setter's contact [m]."""
    set_apex_m: float = 0.0
    """Matches: height that the ball is to reach after the setter's contact [m]."""
    hit_m: float = 0.0
    """Matches: height of the attacker's contact [m]."""
    hit_apex_m: float = 0.0
    """Matches: height that the ball is to reach after the attacker's contact [m]."""
    land_m: float = 0.0
    """Matches: height of the ball at which it is to be over the attack's target [m]."""
    side_m: float = 0.0
    """Matches: distance of the posts of setter and attacker from the middle of the court [m]."""
    serve_m: float = 0.0
    """Matches: distance of a serve's target from the net [m]."""
    serve_aside_m: float = 0.0
    """Matches: distance of a serve's target from the middle of the court [m]."""
    still_cost: float = 0.0
    """`volley_spike_hard`: cost of the squared error of the spiker's horizontal speed [m/s] at the contact ..."""
    back_m_s: float = 0.0
    """... which is to be this speed [m/s] away from the net."""
    spike_offset: float = 0.0
    """`volley_spike_hard`: `offset_cost` of the spiker; and likewise:"""
    spike_tilt: float = 0.0
    spike_height: float = 0.0
    spike_speed: float = 0.0
    spike_effort: float = 0.0
    """`tilt_effort` of the spiker."""
    spike_lift: float = 0.0
    """`lift_effort` of the spiker."""
    other: float = 0.0
    """`PlayLaw`: score of an attack to the other side: a constant ..."""
    other_receiver: float = 0.0
    """... plus this for each 3 m of the opposing receiver from the middle of the court ..."""
    other_ball: float = 0.0
    """... plus this for each 3 m of the ball; and likewise:"""
    short: float = 0.0
    """Score of a short attack."""
    short_receiver: float = 0.0
    """Here for each 3 m that the opposing receiver stands behind 3 m from the net."""
    short_ball: float = 0.0
    dump: float = 0.0
    """Score of an attack by the setter."""
    dump_receiver: float = 0.0
    dump_ball: float = 0.0
    quick: float = 0.0
    """Score of an attack by the receiver."""
    quick_receiver: float = 0.0
    quick_ball: float = 0.0
    go: float = 0.0
    """Score of the receiver's post: it rounds to left, middle or right."""
    go_attacker: float = 0.0
    """Here for each 3 m of the opposing attacker from the middle of the court."""
    go_ball: float = 0.0
    short_m: float = 0.0
    """Distance [m] from the net at which a short attack is aimed."""
    go_m: float = 0.0
    """Distance [m] of the receiver's left and right post from the middle of the court."""
    hold: float = 0.0
    """Above 0.5 a team decides at hits and as the ball crosses the net, and holds its decisions in between; else it
    decides in each period."""
    grip: float = 0.0
    """Share of the ball's horizontal speed that a contact is assumed to take off by friction: 0 for a smooth racket."""
    learn: float = 0.0
    """`ApexBumpLaw`: share of the height that an apex misses, by which the next blows are corrected ..."""
    reach_m: float = 0.0
    """... and the wanted height of the apex [m]."""


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
    least_steps: float = 1.0
    """Steps to go from which on the gains no longer grow."""
    walk: tuple[float, float] = (WALK_M_S2, WALK_TILT)
    """Largest acceleration [m/s^2] of each axis, and largest tilt, on the way to a post."""
    search_least = StrikeGains(*(1.0, 1.0, 0.0, 0.0, 0.05, 0.1, 0.1, 0.1, 0.1, 1e-4, 1e-5, 1.0, 1.0, 0.5, 1.0, 1.0))

    def __init__(self, scenario: VolleyScenario, gains: StrikeGains | None = None) -> None:
        """Work out the tables of gains."""
        self._scenario = scenario
        self.search_from = self.first()
        self.gains = gains or self.search_from
        chosen = self.gains
        flat = chosen.offset_cost, chosen.tilt_cost, 0.0, chosen.tilt_effort
        self._flat, self._high = self.tables(flat, (chosen.height_cost, chosen.speed_cost, chosen.lift_effort))
        names = (*READS, *BALL, *self.further)
        self.observation = ObservationSpec(tuple(map(ObservationField, names)), scenario.rule)

    def tables(self, flat: tuple[Array, ...], high: tuple[Array, ...]) -> tuple[Array, Array]:
        """Return the tables of gains, of costs of (offset, tilt, speed, effort) and of (height, speed, effort)."""
        vehicle, dt_s = self._scenario.vehicle_config, self._scenario.period_s
        lag_s = vehicle.rotors.time_constant_s
        model = vehicle.control.tilt_per_s, vehicle.control.rate_per_s, lag_s
        sideways = horizontal_table(model, (flat[0], flat[1], flat[2]), flat[3], dt_s, STEPS)
        return sideways, vertical_table(lag_s, (high[0], high[1]), high[2], dt_s, STEPS)

    def first(self) -> StrikeGains:
        """Gains at the start of a search."""
        return StrikeGains()

    @property
    def search_step(self) -> StrikeGains:
        """Return half of the gains at the start of a search, so that they at most double."""
        return StrikeGains(*(abs(value) / 2 for value in self.search_from))

    def with_gains(self, gains: StrikeGains) -> Self:
        """Return this law with other gains."""
        return type(self)(self._scenario, gains)

    def act(self, obs: Array) -> Array:
        """Observation [..., O] -> command [..., 4]."""
        return self.flown(seen_of(obs))

    def flown(self, seen: CourtSeen) -> Array:
        """Return the command [..., 4] on an observation that was taken apart."""
        meeting = self.meeting(seen)
        tilt, lift = self.strike(seen, meeting, self.blow(seen, meeting))
        wait = self.waits(seen, meeting)
        return self.sent(seen, meeting, (tilt, lift), wait)

    def level(self, seen: CourtSeen) -> Array:
        """Height of the ball's middle at the coming contact [m]."""
        return self.gains.level_m + 0 * seen.ball[2]

    def apex(self, seen: CourtSeen) -> Array:
        """Height [m] that the ball is to reach after the coming contact."""
        return self.gains.apex_m + 0 * seen.ball[2]

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
        rise = self.rise(seen)
        flight_s = time_to_fall(self.level(seen), rise, self.next_level(seen))
        after = tuple((goal - now) / flight_s for goal, now in zip(to, meeting.ball_m, strict=True))
        (vx, vy, vz), left = meeting.ball_m_s, 1 - self.gains.grip
        return wanted_blow((left * vx, left * vy, vz), (after[0], after[1], rise), self.gains.restitution)

    def rise(self, seen: CourtSeen) -> Array:
        """Vertical speed [m/s] that the ball is to have after the contact."""
        return rise_speed(self.level(seen), self.apex(seen))

    def next_level(self, seen: CourtSeen) -> Array:
        """Height of the ball's middle [m] at which it is to be over its target."""
        return self.gains.level_m + 0 * seen.ball[2]

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
        to_go = namespace(meeting.in_s).maximum(meeting.in_s / self._scenario.period_s, self.least_steps)
        flat, high = self.gains_now(seen, to_go)
        turning, swinging = cross(seen.spin, seen.up), cross(self.turned(seen), seen.up)
        sunk, moving = self.sinking(blow), (self.back(seen), 0 * seen.pos[1])
        found: list[Array] = []
        for axis in (0, 1):
            up, wanted = namespace(seen.up[2]).maximum(seen.up[2], 0.2), blow.normal[axis] / blow.normal[2]
            state = (
                seen.pos[axis] - meeting.place[axis] + sunk[axis] + moving[axis] * meeting.in_s,
                seen.vel[axis] - moving[axis],
                seen.up[axis] / up,
                turning[axis] / up,
                swinging[axis] / up,
                wanted,
            )
            found.append(-sum(flat[axis][..., i] * value for i, value in enumerate(state)))
        speed = (blow.speed_m_s - self.sideways(seen, meeting, blow)) / blow.normal[2]
        state = (seen.pos[2] - meeting.place[2] - sunk[2], seen.vel[2], self.lift(seen), speed)
        return (found[0], found[1]), -sum(high[..., i] * value for i, value in enumerate(state))

    def gains_now(self, seen: CourtSeen, to_go: Array) -> tuple[tuple[Array, Array], Array]:
        """Gains [..., 6] along x and along y, and [..., 4] upwards."""
        gains = gains_at(self._flat, to_go)
        return (gains, gains), gains_at(self._high, to_go)

    def back(self, seen: CourtSeen) -> Array:
        """Wanted speed away from the net [m/s] at the contact, where that speed has a cost."""
        return 0 * seen.pos[0]

    def sideways(self, seen: CourtSeen, meeting: ComingContact, blow: WantedBlow) -> Array:
        """Part of the racket's normal speed [m/s] that comes from the horizontal speed at the contact; in the last
        `LEAN_S` before it the tilt goes from the present one to the wanted one.
        """
        xp, total = namespace(seen.pos[0]), 0 * meeting.in_s
        left_s = xp.clip(meeting.in_s, 0.0, LEAN_S)
        for axis in (0, 1):
            tilts = seen.up[axis] / xp.maximum(seen.up[2], 0.2) + blow.normal[axis] / blow.normal[2]
            total = total + blow.normal[axis] * (seen.vel[axis] + left_s * GRAVITY_M_S2 * tilts / 2)
        return total

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

    def most_lift(self, seen: CourtSeen) -> Array:
        """Largest vertical acceleration that the task's rules leave [m/s^2]."""
        return 0 * seen.pos[2] + np.inf

    def sent(
        self, seen: CourtSeen, meeting: ComingContact, strike: tuple[tuple[Array, Array], Array], waits: Array
    ) -> Array:
        """Return the command [..., 4]."""
        xp, limits, most = namespace(seen.pos[0]), self._scenario.vehicle_config.limits, self.most_lift(seen)
        lift = xp.minimum(xp.clip(strike[1], limits.accel_min_m_s2[2], limits.accel_max_m_s2[2]), most)
        pushes = [xp.clip(t, -TILT, TILT) * (GRAVITY_M_S2 + lift) for t in strike[0]]
        each = [xp.where(waits, a, b) for a, b in zip(self.way(seen, meeting), (*pushes, lift), strict=True)]
        return join([*each, each[0] * 0])

    def way(self, seen: CourtSeen, meeting: ComingContact) -> Vec3:
        """Acceleration [m/s^2] to the post."""
        xp, gains, post, (most, tilt) = namespace(seen.pos[0]), self.gains, self.post(seen, meeting), self.walk
        found: list[Array] = []
        for goal, place, speed in zip(post, seen.pos, seen.vel, strict=True):
            wanted = xp.clip(gains.place_per_s2 / gains.slow_per_s * (goal - place), -WALK_M_S, WALK_M_S)
            found.append(xp.clip(gains.slow_per_s * (wanted - speed), -most, most))
        lift = xp.minimum(xp.maximum(found[2], SINK_M_S2), self.most_lift(seen))
        side = tilt * (GRAVITY_M_S2 + xp.maximum(lift, SINK_M_S2))
        return xp.clip(found[0], -side, side), xp.clip(found[1], -side, side), lift


class BumpLaw(StrikeLaw):
    """`volley_bump`: the ball goes up again, back over the anchor."""

    def target(self, seen: CourtSeen, meeting: ComingContact) -> tuple[Array, Array]:
        """Return a place between the ball's contact and the anchor."""
        x, y = (now + self.gains.home * (seen.anchor[i] - now) for i, now in enumerate(meeting.ball_m))
        return x, y

    def most_lift(self, seen: CourtSeen) -> Array:
        """Largest vertical acceleration below the task's limit of the height, so that the vehicle stops there."""
        return CEILING_PER_S2 * (CEILING_M - seen.pos[2]) - CEILING_PER_S * seen.vel[2]
