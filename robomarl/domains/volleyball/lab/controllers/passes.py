"""`PassLaw`, `SpikeLaw`: strikes in turn, from posts beside each other. Array-generic."""

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.vectors import Vec3
from robomarl.domains.volleyball.core.terminal_lq import gains_at
from robomarl.domains.volleyball.lab.controllers.strike import ComingContact, CourtSeen, StrikeGains, StrikeLaw
from robomarl.domains.volleyball.lab.scenario import VolleyScenario

CIRCLE_M = (-4.5, 0.0)
"""Middle [m] of the circle that a spike is to land in."""
LANDED_M = 0.2
"""Height [m] of the ball's middle at which it counts as landed."""
APART_M = 0.6
"""Least distance [m] of a post from y = 0: the filter keeps mates 1.13 m apart."""
LEAST_EFFORT = 3e-4
"""Least cost of the lift: the smaller it is the larger are the gains, and the errors of rounding."""
BEHIND_M = 0.5
"""Distance [m] of the spiker's post from its contact, away from the net."""
STRAIGHT_M_S = 0.3
"""Horizontal speed [m/s] below which a ball falls straight."""


class PassLaw(StrikeLaw):
    """`volley_bump_pass`: the ball goes over to the other drone's post; between its hits a drone waits at its own."""

    further = ("turn", "number")
    least_steps = 4.0  # gains over the speed of up to 49 1/s would make ONNX and JAX differ by more than export allows
    search_least = StrikeLaw.search_least._replace(home=APART_M, lift_effort=LEAST_EFFORT)

    def first(self) -> StrikeGains:
        """Gains at the start of a search: `home` is the distance [m] of the posts from y = 0."""
        return StrikeGains(
            level_m=2.9,
            apex_m=4.3,
            home=0.8,
            lead_s=0.4,
            place_per_s2=5.0,
            slow_per_s=4.0,
            first_m=2.5,
            first_apex_m=4.6,
        )

    def level(self, seen: CourtSeen) -> Array:
        """Height of the coming contact [m]; a drone does not climb far to the first ball, which comes soon."""
        return namespace(seen.pos[0]).where(self.is_first(seen), self.gains.first_m, self.gains.level_m)

    def apex(self, seen: CourtSeen) -> Array:
        """Height [m] that the ball is to reach after the coming contact."""
        return namespace(seen.pos[0]).where(self.is_first(seen), self.gains.first_apex_m, self.gains.apex_m)

    def is_first(self, seen: CourtSeen) -> Array:
        """[...] bool: the ball falls straight, so it has not been hit yet."""
        vx, vy, _ = seen.ball_vel
        return vx * vx + vy * vy < STRAIGHT_M_S**2

    def target(self, seen: CourtSeen, meeting: ComingContact) -> tuple[Array, Array]:
        """Return the other drone's post."""
        return seen.anchor[0], -self.own_y(seen)

    def own_y(self, seen: CourtSeen) -> Array:
        """Place of the drone's post along y [m]."""
        xp, within_m = namespace(seen.anchor[1]), self._scenario.start.posts_within_m
        side, away = xp.sign(seen.anchor[1]), xp.abs(seen.anchor[1])
        if within_m is None:
            return side * self.gains.home
        return side * xp.clip(self.gains.home, away - within_m, away + within_m)

    def has_turn(self, seen: CourtSeen) -> Array:
        """[...] bool."""
        return (seen.rest[..., 0:2] * seen.rest[..., 2:4]).sum(-1) > 0.5

    def post(self, seen: CourtSeen, meeting: ComingContact) -> Vec3:
        """Return the place below the contact, or the drone's own post if the other one has the turn."""
        xp, mine, at = namespace(seen.pos[0]), self.has_turn(seen), super().post(seen, meeting)
        own = (self.rest_x(seen), self.rest_y(seen), at[2])
        x, y, z = (xp.where(mine, a, b) for a, b in zip(at, own, strict=True))
        return x, y, z

    def rest_x(self, seen: CourtSeen) -> Array:
        """Place along x [m] at which a drone waits without the turn."""
        return seen.anchor[0]

    def rest_y(self, seen: CourtSeen) -> Array:
        """Place along y [m] at which a drone waits without the turn."""
        return self.own_y(seen)

    def waits(self, seen: CourtSeen, meeting: ComingContact) -> Array:
        """[...] bool: the other drone has the turn, or it is too early; for the first ball it never is."""
        return (super().waits(seen, meeting) & ~self.is_first(seen)) | ~self.has_turn(seen)


class SpikeLaw(PassLaw):
    """`volley_spike_easy`: the setter hits the ball over to the spiker's post, who lobs it into the circle."""

    least_steps = StrikeLaw.least_steps
    search_least = StrikeLaw.search_least

    def first(self) -> StrikeGains:
        """Gains at the start of a search: `home` is the distance [m] of the posts from y = 0."""
        return StrikeGains(level_m=2.9, apex_m=4.5, home=0.8, lead_s=0.5, first_m=2.5, first_apex_m=4.2)

    def rest_y(self, seen: CourtSeen) -> Array:
        """Place along y [m] at which a drone waits without the turn: the setter, which has hit, keeps off."""
        return namespace(seen.pos[0]).where(self.is_spiker(seen), self.own_y(seen), seen.anchor[1])

    def next_level(self, seen: CourtSeen) -> Array:
        """Height of the ball's middle [m] at which it is to be over its target."""
        return namespace(seen.pos[0]).where(self.is_spiker(seen), LANDED_M, self.gains.level_m)

    def target(self, seen: CourtSeen, meeting: ComingContact) -> tuple[Array, Array]:
        """Return the spiker's post for the setter, and the circle for the spiker."""
        is_spiker, mate = self.is_spiker(seen), super().target(seen, meeting)
        x, y = (namespace(at).where(is_spiker, goal, at) for goal, at in zip(CIRCLE_M, mate, strict=True))
        return x, y

    def is_spiker(self, seen: CourtSeen) -> Array:
        """[...] bool."""
        return seen.rest[..., 3] > 0.5


class HardSpikeLaw(SpikeLaw):
    """`volley_spike_hard`: the spiker meets the ball at the net and hits it down to the side, past the defender.

    `home` is the spiker's distance [m] from y = 0, `level_m` the height of its contact, and `apex_m` is not used.
    """

    walk = (12.0, 1.2)  # after its hit the spiker has to turn back before the net
    search_least = StrikeLaw.search_least._replace(
        home=APART_M, below_m=-0.6, front_m=0.25, fall_m_s=-2.0, beyond_m=0.3, aside_m=0.5, still_cost=0.01,
        back_m_s=-2.0, lift_effort=LEAST_EFFORT, spike_lift=LEAST_EFFORT, spike_effort=1e-4, spike_offset=0.1,
        spike_tilt=0.1, spike_height=0.1, spike_speed=0.1,
    )  # fmt: skip

    def __init__(self, scenario: VolleyScenario, gains: StrikeGains | None = None) -> None:
        """Work out the tables of gains of setter and spiker."""
        super().__init__(scenario, gains)
        own = self.gains
        high = own.spike_height, own.spike_speed, own.spike_lift
        slow, up = self.tables((own.spike_offset, own.spike_tilt, own.still_cost, own.spike_effort), high)
        free, _ = self.tables((own.spike_offset, own.spike_tilt, 0.0, own.spike_effort), high)
        self._own = slow, free, up

    def first(self) -> StrikeGains:
        """Gains at the start of a search."""
        return StrikeGains(
            level_m=3.18,
            home=1.2,
            below_m=-0.0472,
            lead_s=1.65,
            offset_cost=0.267,
            tilt_cost=2.79,
            height_cost=10.9,
            speed_cost=2.08,
            tilt_effort=0.0153,
            lift_effort=0.000865,
            place_per_s2=4.78,
            slow_per_s=1.49,
            restitution=0.809,
            first_m=2.99,
            first_apex_m=5.45,
            front_m=0.373,
            fall_m_s=1.66,
            beyond_m=1.92,
            aside_m=4.58,
            still_cost=0.0341,
            back_m_s=0.208,
            spike_offset=0.652,
            spike_tilt=5.4,
            spike_height=2.87,
            spike_speed=1.08,
            spike_effort=0.0202,
            spike_lift=0.000531,
        )

    def target(self, seen: CourtSeen, meeting: ComingContact) -> tuple[Array, Array]:
        """Return the spiker's place at the net for the setter, and a place beside the defender for the spiker."""
        xp, is_spiker, gains = namespace(seen.pos[0]), self.is_spiker(seen), self.gains
        side = xp.sign(seen.anchor[1])
        near = gains.front_m + 0 * side, -side * gains.home
        far = -gains.beyond_m + 0 * side, side * gains.aside_m
        x, y = (xp.where(is_spiker, there, here) for there, here in zip(far, near, strict=True))
        return x, y

    def rest_x(self, seen: CourtSeen) -> Array:
        """Place along x [m] at which a drone waits without the turn: the spiker near the net."""
        return namespace(seen.pos[0]).where(self.is_spiker(seen), self.gains.front_m + BEHIND_M, seen.anchor[0])

    def gains_now(self, seen: CourtSeen, to_go: Array) -> tuple[tuple[Array, Array], Array]:
        """Gains [..., 6] along x and along y, and [..., 4] upwards; the spiker has its own, and its speed along x a
        cost."""
        xp, (flat, high), spiker = (
            namespace(seen.pos[0]),
            super().gains_now(seen, to_go),
            self.is_spiker(seen)[..., None],
        )
        own = [gains_at(table, to_go) for table in self._own]
        x, y, z = (xp.where(spiker, mine, setter) for mine, setter in zip(own, (*flat, high), strict=True))
        return (x, y), z

    def back(self, seen: CourtSeen) -> Array:
        """Wanted speed away from the net [m/s] at the contact: the spiker's."""
        return namespace(seen.pos[0]).where(self.is_spiker(seen), self.gains.back_m_s, 0.0)

    def rise(self, seen: CourtSeen) -> Array:
        """Vertical speed [m/s] that the ball is to have after the contact."""
        return namespace(seen.pos[0]).where(self.is_spiker(seen), -self.gains.fall_m_s, super().rise(seen))
