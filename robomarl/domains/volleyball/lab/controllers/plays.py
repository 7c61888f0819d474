"""`PlayLaw`: a team of skills with a high level that decides which skill each robot flies, and with which numbers.

The skills are those of `MatchLaw`. The high level is a table of weights over features of the ball's and the opponents'
places (after HCSP, Zhang et al., 2025, whose network decides at hits and at crossings of the net). It has no memory:
its features change at those events, and little between them. With all its weights 0 the team plays as `MatchLaw`.
Array-generic.
"""

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.volleyball.lab.controllers.match import TURNS, MatchLaw
from robomarl.domains.volleyball.lab.controllers.strike import ComingContact, CourtSeen, StrikeGains

UNIT_M = 3.0
"""Distance [m] for which a feature is 1."""
LEAST_WEIGHT = -2.0
"""Least weight of a search."""
HIGH = (
    *("other", "other_receiver", "other_ball", "short", "short_receiver", "short_ball", "dump", "dump_receiver"),
    *("dump_ball", "quick", "quick_receiver", "quick_ball", "go", "go_attacker", "go_ball"),
)
"""Names of the weights."""


SERVE, RECEIVE, SET, ATTACK = range(4)
"""Numbers of the skills that hit; a robot without the next hit goes to its post, and hovers there."""


class PlayLaw(MatchLaw):
    """(drone, anchor, ball, whose turn, players) -> acceleration and yaw rate, for teams of 3."""

    plays = ("players_3",)
    search_least = MatchLaw.search_least._replace(**dict.fromkeys(HIGH, LEAST_WEIGHT), short_m=0.5, go_m=0.2)

    def first(self) -> StrikeGains:
        """Gains of the fixed script."""
        return super().first()._replace(short_m=1.5, go_m=1.0)

    @property
    def search_step(self) -> StrikeGains:
        """Return the steps of the skills' numbers; a recipe names those of the high level."""
        return super().search_step._replace(short_m=0.0, go_m=0.0)

    def opponent(self, seen: CourtSeen, role: int) -> tuple[Array, Array]:
        """Place of the opponent with a role (0 receiver, 1 setter, 2 attacker) in the plane [m]."""
        first = TURNS + 2 * self._count + 3 * (self._count + self._roles[role])
        return seen.pos[0] + seen.rest[..., first], seen.pos[1] + seen.rest[..., first + 1]

    def score(self, seen: CourtSeen, weights: tuple[Array | float, ...], there_m: Array) -> Array:
        """Return a decision's score of weights (constant, opponent, ball) and an opponent's place [m]."""
        return weights[0] + (weights[1] * there_m + weights[2] * seen.ball[1]) / UNIT_M

    def decides(self, seen: CourtSeen, weights: tuple[Array | float, ...]) -> Array:
        """[...] bool: the score of weights over the opposing receiver's place aside is above 0."""
        return self.score(seen, weights, self.opponent(seen, 0)[1]) > 0

    def skill(self, seen: CourtSeen) -> Array:
        """[...] int: number of the `Skill` that this robot flies with its next hit."""
        xp, gains = namespace(seen.pos[0]), self.gains
        dumps = self.decides(seen, (gains.dump, gains.dump_receiver, gains.dump_ball))
        quick = self.decides(seen, (gains.quick, gains.quick_receiver, gains.quick_ball))
        sets, receives = xp.where(dumps, ATTACK, SET), xp.where(quick, ATTACK, RECEIVE)
        others = xp.where(self.is_role(seen, 2), ATTACK, xp.where(self.is_role(seen, 1), sets, receives))
        return xp.where(self.serves(seen), SERVE, others)

    def of_skill(self, seen: CourtSeen, values: tuple[float | Array, ...]) -> Array:
        """Return the value of the skill that the high level chose for this robot."""
        xp, skill = namespace(seen.pos[0]), self.skill(seen)
        found = values[ATTACK] + 0 * seen.pos[0]
        for number in (SERVE, RECEIVE, SET):
            found = xp.where(skill == number, values[number], found)
        return found

    def target(self, seen: CourtSeen, meeting: ComingContact) -> tuple[Array, Array]:
        """Place in the plane that the ball is sent to; the high level chooses side and depth of an attack."""
        xp, gains = namespace(seen.pos[0]), self.gains
        x, y = super().target(seen, meeting)
        attacks = self.skill(seen) == ATTACK
        behind = -self.opponent(seen, 0)[0] - UNIT_M
        short = self.score(seen, (gains.short, gains.short_receiver, gains.short_ball), behind) > 0
        other = self.decides(seen, (gains.other, gains.other_receiver, gains.other_ball))
        return xp.where(attacks & short, -gains.short_m, x), xp.where(attacks & other, -y, y)

    def wait_y(self, seen: CourtSeen) -> Array:
        """Distance of the receiver's post from the middle of the court [m]: left, middle or right."""
        xp, gains, attacker = namespace(seen.pos[0]), self.gains, self.opponent(seen, 2)[1]
        score = self.score(seen, (gains.go, gains.go_attacker, gains.go_ball), attacker)
        return gains.go_m * xp.round(xp.clip(score, -1.0, 1.0))
