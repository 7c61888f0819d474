"""`MatchLaw`: a team of strikes in a fixed order: one robot receives and serves, one sets, one attacks. Array-generic.

The referee's flags say whose hit is next. The receiver flies to the ball as soon as the other side has hit it over, by
the ball's flight, and not when it crosses the net. Robots without the next hit wait at posts of their own. A robot that
is alone on its side hits every ball over the net.
"""

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.vectors import Vec3
from robomarl.domains.volleyball.core.ballistics import rise_speed
from robomarl.domains.volleyball.lab.controllers.strike import ComingContact, CourtSeen, StrikeGains, StrikeLaw
from robomarl.domains.volleyball.lab.scenario import VolleyScenario

ROLES = {1: (0, 0, 0), 3: (2, 0, 1), 6: (1, 0, 2)}
"""Numbers of receiver, setter and attacker in teams of 1, 3 and 6; the last robot serves."""
IDLE = 3
"""In teams of 6, the number of a robot that never hits, so its flag is set at a serve alone."""
OWN_HALF_M = 0.3
"""Distance [m] from the net beyond which a coming ball is received."""
TURNS = 2
APART_M = 1.3
"""Least distance [m] of the posts of setter and attacker from the middle of the court in a search: the filter keeps
mates 1.13 m apart."""
ASIDE_STEP_M = 0.75
"""Step of a search [m] for places beside the middle of the court."""
TEAM = StrikeGains(
    level_m=2.53,
    apex_m=4.892,
    home=3.659,
    first_m=2.997,
    first_apex_m=6.319,
    set_m=4.589,
    set_apex_m=4.137,
    hit_m=2.584,
    hit_apex_m=3.554,
    land_m=1.816,
    front_m=2.039,
    side_m=1.392,
    beyond_m=3.922,
    aside_m=0.008408,
    serve_m=4.394,
    serve_aside_m=0.008854,
    below_m=0.3396,
    lead_s=0.7935,
    place_per_s2=6.272,
    slow_per_s=3.551,
    offset_cost=0.3118,
    tilt_cost=1.125,
    height_cost=9.714,
    speed_cost=4.401,
    tilt_effort=0.01154,
    lift_effort=0.0003831,
    restitution=0.7407,
)
"""Gains of the fixed script of teams of 3."""
SIX = StrikeGains(
    level_m=1.89,
    apex_m=5.596,
    home=2.143,
    first_m=3.043,
    first_apex_m=5.23,
    set_m=3.873,
    set_apex_m=3.365,
    hit_m=2.144,
    hit_apex_m=3.645,
    land_m=1.599,
    front_m=2.94,
    side_m=1.6,
    beyond_m=3.25,
    aside_m=-0.3992,
    serve_m=1.672,
    serve_aside_m=-0.004737,
    below_m=0.1678,
    lead_s=1.048,
    place_per_s2=5.538,
    slow_per_s=4.565,
    offset_cost=0.3825,
    tilt_cost=0.5392,
    height_cost=4.269,
    speed_cost=3.316,
    tilt_effort=0.04587,
    lift_effort=0.0005944,
    restitution=0.7749,
)
"""Gains of the fixed script of teams of 6."""
ALONE = TEAM._replace(
    **dict.fromkeys(("level_m", "apex_m", "home", "first_m", "first_apex_m", "set_m", "set_apex_m", "side_m"), 0.0),
    **dict.fromkeys(("serve_m", "serve_aside_m"), 0.0),
    hit_m=2.4,
    hit_apex_m=4.2,
    front_m=1.5,
    beyond_m=1.5,
)
"""Gains of the fixed script of one robot; those of other roles are 0, and no search moves them."""


class MatchLaw(StrikeLaw):
    """(drone, anchor, ball, whose turn) -> acceleration and yaw rate, in the court frame of its team."""

    plays: tuple[str, ...] = ()
    """Further features that decisions about skills read."""
    least_steps = 4.0  # larger gains would make ONNX and JAX differ by more than export allows
    search_least = StrikeLaw.search_least._replace(
        home=0.8, lift_effort=3e-4, below_m=0.05, front_m=0.8, beyond_m=0.5, aside_m=-3.0, serve_m=0.5,
        serve_aside_m=-3.0, set_m=1.5, set_apex_m=2.5, hit_m=1.5, hit_apex_m=2.7, land_m=0.2, side_m=APART_M,
    )  # fmt: skip

    def __init__(self, scenario: VolleyScenario, gains: StrikeGains | None = None) -> None:
        """Work out the tables of gains."""
        count = scenario.count
        self._roles, self._count = ROLES[count], count
        alone = ("turn", "team_hits_1")
        named = ("turn", f"team_hits_{count}", f"number_{count}")
        self.further = alone if count == 1 else (*named, *self.plays)
        super().__init__(scenario, gains)

    def first(self) -> StrikeGains:
        """Gains of the fixed script."""
        return {1: ALONE, 3: TEAM, 6: SIX}[self._count]

    @property
    def search_step(self) -> StrikeGains:
        """Return half of the gains at the start of a search; places aside, which may be 0, have another step."""
        serve = ASIDE_STEP_M if self._count > 1 else 0.0
        return super().search_step._replace(aside_m=ASIDE_STEP_M, serve_aside_m=serve)

    def flag(self, seen: CourtSeen, role: int) -> Array:
        """[...] bool: the robot with a role (0 receiver, 1 setter, 2 attacker) may not hit."""
        return self.flag_of(seen, self._roles[role])

    def flag_of(self, seen: CourtSeen, number: int) -> Array:
        """[...] bool: the robot with that number may not hit."""
        return seen.rest[..., TURNS + number] > 0.5

    def serves(self, seen: CourtSeen) -> Array:
        """[...] bool: this robot is the last one, and only it may hit."""
        return self.is_serve(seen) & (seen.rest[..., TURNS + 2 * self._count - 1] > 0.5)

    def is_role(self, seen: CourtSeen, role: int) -> Array:
        """[...] bool: this robot has that role."""
        if self._count == 1:
            return seen.rest[..., 0] == seen.rest[..., 0]
        return seen.rest[..., TURNS + self._count + self._roles[role]] > 0.5

    def ours(self, seen: CourtSeen) -> Array:
        """[...] bool: the ball is on the team's side."""
        return seen.rest[..., 0] > 0.5

    def is_serve(self, seen: CourtSeen) -> Array:
        """[...] bool: only the server may hit; a robot alone serves as it hits."""
        if self._count > IDLE:
            return self.ours(seen) & self.flag_of(seen, IDLE) & ~self.flag_of(seen, self._count - 1)
        return self.ours(seen) & ~self.flag(seen, 0) & self.flag(seen, 1) & self.flag(seen, 2)

    def comes(self, seen: CourtSeen) -> Array:
        """[...] bool: the other side's ball will be at the height of the contact on the team's own half."""
        meeting = self.meeting(seen)
        return ~self.ours(seen) & (seen.ball_vel[0] > 0) & (meeting.place[0] > OWN_HALF_M)

    def has_turn(self, seen: CourtSeen) -> Array:
        """[...] bool: the next hit is this robot's."""
        received, was_set, ours = self.flag(seen, 0), self.flag(seen, 1), self.ours(seen)
        receives = self.is_role(seen, 0) & ((ours & ~received) | self.comes(seen))
        if self._count == 1:
            return receives
        receives = (receives & ~self.is_serve(seen)) | self.serves(seen)
        sets = self.is_role(seen, 1) & ours & received & ~was_set
        attacks = self.is_role(seen, 2) & ours & was_set & received & ~self.flag(seen, 2)
        return receives | sets | attacks

    def of_role(self, seen: CourtSeen, values: tuple[float | Array, ...]) -> Array:
        """Return the value of this robot's role: of a serve, receiver, setter, attacker."""
        xp, (serve, receive, sets, attack) = namespace(seen.pos[0]), values
        if self._count == 1:
            return attack + 0 * seen.pos[0]
        others = xp.where(self.is_role(seen, 2), attack, xp.where(self.is_role(seen, 1), sets, receive))
        return xp.where(self.serves(seen), serve, others)

    def of_skill(self, seen: CourtSeen, values: tuple[float | Array, ...]) -> Array:
        """Return the value of the skill that this robot flies: serve, receive, set or attack, by its role."""
        return self.of_role(seen, values)

    def level(self, seen: CourtSeen) -> Array:
        """Height of the ball's middle at the coming contact [m]."""
        gains = self.gains
        return self.of_skill(seen, (gains.first_m, gains.level_m, gains.set_m, gains.hit_m)) + 0 * seen.ball[2]

    def apex(self, seen: CourtSeen) -> Array:
        """Height [m] that the ball is to reach after the coming contact."""
        gains = self.gains
        each = (gains.first_apex_m, gains.apex_m, gains.set_apex_m, gains.hit_apex_m)
        return self.of_skill(seen, each) + 0 * seen.ball[2]

    def rise(self, seen: CourtSeen) -> Array:
        """Vertical speed [m/s] that the ball is to have after the contact."""
        level = self.level(seen)
        return rise_speed(level, namespace(level).maximum(self.apex(seen), level + 0.1))

    def next_level(self, seen: CourtSeen) -> Array:
        """Height of the ball's middle [m] at which it is to be over its target."""
        gains = self.gains
        return self.of_skill(seen, (gains.level_m, gains.set_m, gains.hit_m, gains.land_m)) + 0 * seen.ball[2]

    def target(self, seen: CourtSeen, meeting: ComingContact) -> tuple[Array, Array]:
        """Place in the plane that the ball is sent to."""
        gains, zero = self.gains, 0 * seen.ball[0]
        x = self.of_skill(seen, (-gains.serve_m, gains.front_m, gains.front_m, -gains.beyond_m))
        y = self.of_skill(seen, (gains.serve_aside_m, -gains.side_m, gains.side_m, gains.aside_m))
        return x + zero, y + zero

    def post(self, seen: CourtSeen, meeting: ComingContact) -> Vec3:
        """Return the place below the contact for the robot with the next hit, else a place of its own."""
        xp, gains, mine = namespace(seen.pos[0]), self.gains, self.has_turn(seen)
        at = super().post(seen, meeting)
        known = self.is_role(seen, 0) | self.is_role(seen, 1) | self.is_role(seen, 2)
        x = xp.where(known, self.of_role(seen, (gains.home, gains.home, gains.front_m, gains.front_m)), seen.anchor[0])
        aside = self.wait_y(seen)
        y = xp.where(known, self.of_role(seen, (aside, aside, -gains.side_m, gains.side_m)), seen.anchor[1])
        own = (x, y, at[2])
        found = tuple(xp.where(mine, a, b) for a, b in zip(at, own, strict=True))
        return found[0], found[1], found[2]

    def wait_y(self, seen: CourtSeen) -> Array:
        """Distance of the receiver's post from the middle of the court [m]."""
        return 0 * seen.pos[1]

    def waits(self, seen: CourtSeen, meeting: ComingContact) -> Array:
        """[...] bool: another robot has the next hit, or it is too early."""
        return super().waits(seen, meeting) | ~self.has_turn(seen)
