"""`PlayLaw`: a team of skills with a high level that decides which skill each robot flies, and with which numbers.

The skills are those of `MatchLaw`. The high level is a table of weights over features of the ball's and the opponents'
places (after HCSP, Zhang et al., 2025, whose network decides at hits and at crossings of the net). With the gain `hold`
it decides at those events and holds its decisions in between, which it remembers; else it decides in each period. With
all its weights 0 the team plays as `MatchLaw`. Array-generic.
"""

from dataclasses import replace

from robomarl.core.geometry import join, namespace
from robomarl.core.types import Array
from robomarl.domains.volleyball.lab.controllers.match import TURNS, MatchLaw
from robomarl.domains.volleyball.lab.controllers.strike import ComingContact, CourtSeen, StrikeGains, seen_of

UNIT_M = 3.0
"""Distance [m] for which a feature is 1."""
LEAST_WEIGHT = -2.0
"""Least weight of a search."""
HIGH = (
    *("other", "other_receiver", "other_ball", "short", "short_receiver", "short_ball", "dump", "dump_receiver"),
    *("dump_ball", "quick", "quick_receiver", "quick_ball", "go", "go_attacker", "go_ball"),
)
"""Names of the weights."""


JUMP_M_S = 0.5
"""Change of the ball's velocity in one period, sideways or upwards, that shows a hit; falling changes it by 0.2."""
RECORD = 4
"""Elements of the referee's record: whose side the ball is on, and which robots may not hit."""
OTHER, SHORT, DUMP, QUICK, GO = range(5)
"""Decisions: an attack to the other side, a short one, an attack by the setter, one by the receiver: 1 or 0; and the
receiver's post: -1, 0 or 1."""
DECISIONS = 5


SERVE, RECEIVE, SET, ATTACK = range(4)
"""Numbers of the skills that hit; a robot without the next hit goes to its post, and hovers there."""


class PlayLaw(MatchLaw):
    """(drone, anchor, ball, whose turn, players) -> acceleration and yaw rate, for teams of 3."""

    plays = ("players_3",)
    memory_size = 1 + RECORD + 3 + DECISIONS
    """1 after the first decision; the referee's record, the ball's velocity and the decisions of the last one."""
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

    def decisions(self, seen: CourtSeen) -> Array:
        """[..., 5] decisions of now."""
        xp, gains = namespace(seen.pos[0]), self.gains
        aside, behind = self.opponent(seen, 0)[1], -self.opponent(seen, 0)[0] - UNIT_M
        scores = (
            self.score(seen, (gains.other, gains.other_receiver, gains.other_ball), aside),
            self.score(seen, (gains.short, gains.short_receiver, gains.short_ball), behind),
            self.score(seen, (gains.dump, gains.dump_receiver, gains.dump_ball), aside),
            self.score(seen, (gains.quick, gains.quick_receiver, gains.quick_ball), aside),
        )
        go = self.score(seen, (gains.go, gains.go_attacker, gains.go_ball), self.opponent(seen, 2)[1])
        chosen = [xp.where(score > 0, 1.0, 0.0) for score in scores]
        side = xp.where(go > 0.5, 1.0, 0.0) - xp.where(go < -0.5, 1.0, 0.0)  # export knows no rounding
        return xp.stack([*chosen, side], -1)

    def with_decisions(self, seen: CourtSeen, decisions: Array) -> CourtSeen:
        """Return the observation with decisions [..., 5] as its last elements, where the skills read them."""
        rest = namespace(seen.rest, decisions).concatenate([seen.rest, decisions], -1)
        return replace(seen, rest=rest)

    def act(self, obs: Array) -> Array:
        """Observation [..., O] -> command [..., 4], decided in this period."""
        seen = seen_of(obs)
        return self.flown(self.with_decisions(seen, self.decisions(seen)))

    def decide(self, memory: Array, obs: Array) -> tuple[Array, Array]:
        """(memory [..., M], observation [..., O]) -> (memory, command [..., 4])."""
        seen = seen_of(obs)
        xp = namespace(memory, obs)
        record = seen.rest[..., 1 : 1 + RECORD]
        ball = join(list(seen.ball_vel))
        renewed = self.is_event(memory, record, ball) | (self.gains.hold < 0.5)
        chosen = xp.where(renewed[..., None], self.decisions(seen), memory[..., -DECISIONS:])
        after = xp.concatenate([record[..., :1] * 0 + 1, record, ball, chosen], -1)
        return after, self.flown(self.with_decisions(seen, chosen))

    def is_event(self, memory: Array, record: Array, ball_m_s: Array) -> Array:
        """[...] bool: nothing was decided yet, the referee's record [..., 4] has changed, or the ball's velocity
        [..., 3] as only a hit changes it."""
        xp = namespace(memory, record)
        changed = xp.abs(record - memory[..., 1 : 1 + RECORD]).max(-1) > 0.5
        jump = ball_m_s - memory[..., 1 + RECORD : -DECISIONS]
        aside = jump[..., 0] * jump[..., 0] + jump[..., 1] * jump[..., 1]
        return (memory[..., 0] < 0.5) | changed | (aside > JUMP_M_S**2) | (jump[..., 2] > JUMP_M_S)

    def is_chosen(self, seen: CourtSeen, which: int) -> Array:
        """[...] bool: the high level has decided for this."""
        return seen.rest[..., which - DECISIONS] > 0.5

    def skill(self, seen: CourtSeen) -> Array:
        """[...] int: number of the skill that this robot flies with its next hit."""
        xp = namespace(seen.pos[0])
        sets = xp.where(self.is_chosen(seen, DUMP), ATTACK, SET)
        receives = xp.where(self.is_chosen(seen, QUICK), ATTACK, RECEIVE)
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
        short, other = self.is_chosen(seen, SHORT), self.is_chosen(seen, OTHER)
        return xp.where(attacks & short, -gains.short_m, x), xp.where(attacks & other, -y, y)

    def wait_y(self, seen: CourtSeen) -> Array:
        """Distance of the receiver's post from the middle of the court [m]: left, middle or right."""
        return self.gains.go_m * seen.rest[..., GO - DECISIONS]
