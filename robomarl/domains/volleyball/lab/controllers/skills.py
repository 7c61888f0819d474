"""`AimedLaw` and `PostLaw`: one hit that sends the ball through a place, and the flight to a post. Array-generic."""

from typing import NamedTuple

from robomarl.core.geometry import namespace
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.types import Array
from robomarl.core.vectors import Vec3
from robomarl.domains.volleyball.core.ballistics import rise_speed
from robomarl.domains.volleyball.lab.controllers.match import TEAM
from robomarl.domains.volleyball.lab.controllers.strike import ComingContact, CourtSeen, StrikeGains, StrikeLaw
from robomarl.domains.volleyball.lab.scenario import VolleyScenario

OVER_M = 0.1
"""Least height [m] of the ball's apex over the contact and over the target."""
LIFT_EFFORT = 6e-4
"""Least cost of the lift in a search: smaller ones make larger gains, and larger errors of rounding."""
KEPT = (
    *("below_m", "lead_s", "place_per_s2", "slow_per_s", "offset_cost", "tilt_cost", "height_cost", "speed_cost"),
    *("tilt_effort", "lift_effort", "restitution"),
)
"""Gains that the skills of a team of three have in common."""


class AimedLaw(StrikeLaw):
    """`volley_strike`: one hit sends the ball through the place of `[aim]`; then the drone returns to its anchor."""

    further = ("turn",)
    least_steps = 6.0  # with 4, as in matches, ONNX and JAX differ by 1.1e-5 at the 4.7 m of a set; 1e-5 is allowed
    search_least = StrikeLaw.search_least._replace(lift_effort=LIFT_EFFORT, below_m=0.05, level_m=1.2, apex_m=2.0)

    def first(self) -> StrikeGains:
        """Gains at the start of a search: those of the script of three, with the numbers of its receiver."""
        shared = {name: getattr(TEAM, name) for name in KEPT} | {"lift_effort": 2 * LIFT_EFFORT}
        return StrikeGains(level_m=TEAM.level_m, apex_m=TEAM.apex_m, **shared)

    @property
    def search_step(self) -> StrikeGains:
        """Return half of the gains at the start of a search; those of other laws keep their values."""
        own = {name: abs(getattr(self.search_from, name)) / 2 for name in ("level_m", "apex_m", *KEPT)}
        return StrikeGains(*(0.0 for _ in StrikeGains._fields))._replace(**own)

    def rise(self, seen: CourtSeen) -> Array:
        """Vertical speed [m/s] that the ball is to have after the contact."""
        xp, level = namespace(seen.pos[0]), self.level(seen)
        least = xp.maximum(level, self.next_level(seen)) + OVER_M
        return rise_speed(level, xp.maximum(self.apex(seen), least))

    def next_level(self, seen: CourtSeen) -> Array:
        """Height of the target [m]."""
        return 0 * seen.ball[2] + self._aim[2]

    def target(self, seen: CourtSeen, meeting: ComingContact) -> tuple[Array, Array]:
        """Place of the target in the plane."""
        return 0 * seen.ball[0] + self._aim[0], 0 * seen.ball[0] + self._aim[1]

    @property
    def _aim(self) -> Vec3:
        assert self._scenario.aim, "checked: a task with a target has [aim]"
        return self._scenario.aim.place_m

    def has_turn(self, seen: CourtSeen) -> Array:
        """[...] bool: the ball has not been hit yet."""
        return seen.rest[..., 0] > 0.5

    def post(self, seen: CourtSeen, meeting: ComingContact) -> Vec3:
        """Return the place below the contact, or the anchor after the hit."""
        xp, mine, at = namespace(seen.pos[0]), self.has_turn(seen), super().post(seen, meeting)
        x, y, z = (xp.where(mine, a, b) for a, b in zip(at, seen.anchor, strict=True))
        return x, y, z

    def waits(self, seen: CourtSeen, meeting: ComingContact) -> Array:
        """[...] bool: it is too early for the swing, or the hit is past."""
        return super().waits(seen, meeting) | ~self.has_turn(seen)


class PostGains(NamedTuple):
    """Numbers of `PostLaw`."""

    place_per_s2: float = 6.0
    """Acceleration over the distance to the post ..."""
    slow_per_s: float = 4.0
    """... and over the speed."""
    most_m_s2: float = 5.0
    """Largest acceleration of each axis."""
    speed_m_s: float = 2.5
    """Largest speed of each axis."""


class PostLaw:
    """`volley_post`: (drone, its post) -> acceleration and yaw rate."""

    search_step = PostGains(3.0, 2.0, 2.5, 1.25)
    search_least = PostGains(1.0, 1.0, 1.0, 0.5)

    def __init__(self, scenario: VolleyScenario, gains: PostGains | None = None) -> None:
        """Take the scenario's neighbours."""
        self._scenario = scenario
        self.search_from = PostGains()
        self.gains = gains or self.search_from
        self.observation = ObservationSpec(tuple(map(ObservationField, ("velocity", "goal_error"))), scenario.rule)

    def with_gains(self, gains: PostGains) -> "PostLaw":
        """Return this law with other gains."""
        return PostLaw(self._scenario, gains)

    def act(self, obs: Array) -> Array:
        """Observation [..., O] -> command [..., 4]."""
        xp, gains = namespace(obs), self.gains
        velocity, away = obs[..., :3], obs[..., 3:6]
        wanted = xp.clip(gains.place_per_s2 / gains.slow_per_s * away, -gains.speed_m_s, gains.speed_m_s)
        push = xp.clip(gains.slow_per_s * (wanted - velocity), -gains.most_m_s2, gains.most_m_s2)
        return xp.concatenate([push, push[..., :1] * 0], -1)
