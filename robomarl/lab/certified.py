"""`CertifiedTeam`: the certificate as the guard of a simulated team, its messages on the simulated radio.

The simulated radio says how old the newest message of each teammate is. That age says at which
decision it was sent, and so which words came with it: no word arrives that its message did not.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robomarl.core.certificate.course import stop_of
from robomarl.core.certificate.figures import figures_of, uncovered
from robomarl.core.certificate.kernel import certificate_of
from robomarl.core.certificate.memory import ELSEWHERE_TUBES, CertifiedCarry, DecisionInputs, at_reference, tubes_off
from robomarl.core.certificate.pact import Word
from robomarl.core.config import UserError
from robomarl.core.domain.onboard import CertifiedCommand
from robomarl.core.filter.memory import Reason
from robomarl.core.filter.params import SafetyParams
from robomarl.core.tree import both, each
from robomarl.core.types import SENT, FilterResult
from robomarl.core.view import LocalView, Plan
from robomarl.lab.sim.message import mates_of

KEPT_DECISIONS = 8
"""Number of decisions whose words are kept: a message that is older when it arrives counts as lost."""


Order = Callable[[int], np.ndarray]
"""Number of robots -> [N, N-1] int: index of each robot's k-th teammate."""


def in_order(count: int) -> np.ndarray:
    """[N, N-1] int: the other robots in the order of their indices."""
    return np.array([[j for j in range(count) if j != i] for i in range(count)], int).reshape(count, -1)


class CertifiedTeamCarry(NamedTuple):
    """Memory of a team, [E, N]."""

    robots: CertifiedCarry | tuple[()]
    """Memory of the robots; empty before the first decision, at which they take their places."""
    heard: Word | tuple[()]
    """[E, N, K] newest words that each robot heard from each teammate."""
    sent: tuple[Word, ...]
    """Words of the last decisions as they will be heard, newest first."""
    decisions: int
    worn: tuple[object, ...] = ()
    """Memory of commands of another kind, see `CertifiedCommand`."""

    @property
    def plan(self) -> Plan:
        """Courses [E, N, 3] for the radio, as plans."""
        assert isinstance(self.robots, CertifiedCarry), "robots have decided once"
        course = self.robots.course
        return Plan(course.pos_m, course.vel_m_s, stop_of(course, np))


class CertifiedTeam:
    """Guard of a whole simulated team; see `robomarl.lab.evaluate.pilots.Guard`."""

    def __init__(self, params: SafetyParams, radius_m: float, order: Order = mates_of) -> None:
        """Work out the numbers.

        Args:
            params: safety parameters of the vehicle, with the scenario's arena.
            radius_m: radius of its body.
            order: which teammate each row of a robot's view is.

        Raises:
            UserError: the certificate does not cover what the parameters have; names it.
        """
        if name := uncovered(params):
            raise UserError(f"the certificate does not cover {name} yet; fly with --filter qp.")
        self.params, self._order = params, order
        self.figures = figures_of(params, radius_m)
        self.certificate = certificate_of(params, self.figures)
        self._separation_m, self._period_s = params.safety.separation_m, params.period_s

    def init(self, batch: tuple[int, ...] = ()) -> CertifiedTeamCarry:
        """Memory before the first decision."""
        return CertifiedTeamCarry((), (), (), 0)

    def __call__(
        self, carry: CertifiedTeamCarry, view: LocalView, nominal: np.ndarray, gain_per_s: np.ndarray | None = None
    ) -> tuple[CertifiedTeamCarry, FilterResult]:
        """(memory, views [E, N], nominal [E, N, 4], or [E, N, 5] with a gain) -> (memory, result); a gain has no
        meaning here."""
        wanted = np.asarray(nominal, float)[..., :SENT]
        count = view.heard.mask.shape[-1] + 1
        leads = np.broadcast_to(np.arange(count)[:, None] < self._order(count), view.heard.mask.shape)
        robots, heard = carry.robots, carry.heard
        now_s = np.full(leads.shape[:-1], carry.decisions * self._period_s)
        if not isinstance(robots, CertifiedCarry) or not isinstance(heard, Word):
            robots = self.certificate.init(np.full((*now_s.shape, 3), np.nan), count - 1, now_s)
            heard = self._as_heard(self.certificate.said(robots, leads))._replace(number=np.full(leads.shape, -1))
        robots, heard, said = self._begun_again(view, now_s, (robots, heard, carry.sent))
        heard = self._received(view, heard, said)
        given = DecisionInputs(view, heard, leads, np.ones(leads.shape, bool), wanted, now_s)
        robots, found = self.certificate.step(robots, given)
        sent = (self._as_heard(found.word), *said[: KEPT_DECISIONS - 1])
        none, has_own = np.zeros(leads.shape[:-1]), np.isfinite(view.own.pos_m).all(-1)
        away = np.asarray(view.heard.pos_m, float) - np.asarray(view.own.pos_m, float)[..., None, :]
        gap = np.where(view.heard.mask, np.linalg.norm(away, axis=-1), math.inf).min(-1, initial=math.inf)
        result = FilterResult(
            command=found.command,
            nominal=nominal,
            active=~(np.abs(found.command - wanted) <= 1e-9).all(-1),
            slack=none,
            solved=~found.vetoed,
            reason=np.where(has_own, int(Reason.OK), int(Reason.NON_FINITE)),
            margin_m=gap - self._separation_m,
        )
        return carry._replace(robots=robots, heard=heard, sent=sent, decisions=carry.decisions + 1), result

    def seen(self, carry: CertifiedTeamCarry, view: LocalView) -> LocalView:
        """Return the view that policies decide on: robots are where their references are."""
        robots = carry.robots
        return at_reference(robots, view, self.params.look_ahead_m) if isinstance(robots, CertifiedCarry) else view

    def _begun_again(
        self, view: LocalView, now_s: np.ndarray, known: tuple[CertifiedCarry, Word, tuple[Word, ...]]
    ) -> tuple[CertifiedCarry, Word, tuple[Word, ...]]:
        """Return memory and words; teams with a robot far outside its tube, because it was pushed or put elsewhere,
        remember nothing but their biases, and take their places anew."""
        robots, heard, sent = known
        off = tubes_off(robots, view, self.figures, self.params.look_ahead_m, now_s)
        lost = (off > ELSEWHERE_TUBES) & robots.placed
        if not (anew := lost.any(-1)).any():
            return known
        none = self.certificate.init(np.full((*off.shape, 3), np.nan), heard.number.shape[-1], robots.course.at_s)
        fresh = none._replace(bias=robots.bias, commands=robots.commands)

        def pick(new: np.ndarray, old: np.ndarray) -> np.ndarray:
            return np.where(anew.reshape(anew.shape + (1,) * (old.ndim - 1)), new, old)

        heard, *sent = (w._replace(number=pick(np.full(w.number.shape, -1), w.number)) for w in (heard, *sent))
        return both(fresh, robots, pick), heard, tuple(sent)

    def _received(self, view: LocalView, heard: Word, sent: tuple[Word, ...]) -> Word:
        """Return the newest words heard, now that messages of these ages have arrived."""
        ago = np.maximum(np.rint(np.asarray(view.heard.age_s, float) / self._period_s).astype(int), 1)
        for back, words in enumerate(sent, 1):
            came = view.heard.mask & (ago == back)

            def pick(new: np.ndarray, old: np.ndarray, came: np.ndarray = came) -> np.ndarray:
                return np.where(came.reshape(came.shape + (1,) * (old.ndim - came.ndim)), new, old)

            heard = both(words, heard, pick)
        return heard

    def _as_heard(self, said: Word) -> Word:
        """The words [E, N, K] that each robot hears from its teammates, given those that each says to its teammates."""
        if not said.number.shape[-1]:
            return said
        mates = self._order(said.number.shape[-2])
        robots = np.arange(len(mates))[:, None, None]
        back = (mates[mates] == robots).argmax(-1)  # the row that a robot has in its teammate's view
        return each(said, lambda part: part[:, mates, back])


class CertifiedPlayers:
    """The certificate as the guard of a simulated team whose commands are of another kind."""

    def __init__(self, way: CertifiedCommand, radius_m: float) -> None:
        """Work out the numbers: how the commands go through the certificate, and the radius of a robot's body."""
        self._way, self._team = way, CertifiedTeam(way.params, radius_m)
        self.params, self.init, self.seen = way.params, self._team.init, self._team.seen

    def __call__(
        self, carry: CertifiedTeamCarry, view: LocalView, nominal: np.ndarray, gain_per_s: np.ndarray | None = None
    ) -> tuple[CertifiedTeamCarry, FilterResult]:
        """(memory, views [E, N], nominal [E, N, A]) -> (memory, result)."""
        return self._way(self._team, carry, view, nominal)
