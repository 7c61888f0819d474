"""`CertifiedTeam`: the certificate as the guard of a simulated team, its messages on the simulated radio.

The simulated radio says how old the newest message of each teammate is. That age says at which
decision it was sent, and so which words came with it: no word arrives that its message did not.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from robomarl.core.certificate.certificate import Certificate
from robomarl.core.certificate.course import stop_of
from robomarl.core.certificate.figures import figures_of, uncovered
from robomarl.core.certificate.kernel import certificate_of
from robomarl.core.certificate.memory import ELSEWHERE_TUBES, CertifiedCarry, DecisionInputs, at_reference, tubes_off
from robomarl.core.certificate.pact import Word
from robomarl.core.certificate.tether import Tether
from robomarl.core.config import UserError, to_dict
from robomarl.core.domain.onboard import CertifiedCommand
from robomarl.core.domain.registry import command_of
from robomarl.core.filter.decision import Library
from robomarl.core.filter.memory import Reason
from robomarl.core.filter.params import SafetyParams
from robomarl.core.geometry import namespace
from robomarl.core.tree import Branch, each
from robomarl.core.types import SENT, Array, FilterResult
from robomarl.core.view import LocalView, Plan
from robomarl.lab.sim.message import mates_of
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of

KEPT_DECISIONS = 8
"""Number of decisions whose words are kept: a message that is older when it arrives counts as lost."""
PLAIN = ("acceleration.x", "acceleration.y", "acceleration.z", "yaw_rate")
"""Elements of a command that the certificate filters."""
Order = Callable[[int], np.ndarray]
"""Number of robots -> [N, N-1] int: index of each robot's k-th teammate."""


def in_order(count: int) -> np.ndarray:
    """[N, N-1] int: the other robots in the order of their indices."""
    return np.array([[j for j in range(count) if j != i] for i in range(count)], int).reshape(count, -1)


class CertifiedTeamCarry(NamedTuple):
    """Memory of a team."""

    robots: CertifiedCarry
    """[..., N] memory of the robots, which take their places at their first decision."""
    heard: Word
    """[..., N, K] newest words that each robot heard from each teammate."""
    sent: tuple[Word, ...]
    """Words of the last decisions as they will be heard, newest first."""
    decisions: Array
    """[..., N] int: decisions so far."""
    worn: tuple[object, ...] = ()
    """Memory of commands of another kind, see `CertifiedCommand`."""

    @property
    def plan(self) -> Plan:
        """Courses [..., N, 3] for the radio, as plans."""
        course = self.robots.course
        return Plan(course.pos_m, course.vel_m_s, stop_of(course, namespace(course.pos_m)))


class CertifiedTeam:
    """Guard of a whole simulated team; see `robomarl.lab.evaluate.pilots.Guard`. Array-generic, given a library."""

    def __init__(
        self,
        params: SafetyParams,
        radius_m: float,
        order: Order = mates_of,
        library: Library | None = None,
        tether: Tether | None = None,
    ) -> None:
        """Work out the numbers.

        Args:
            params: safety parameters of the vehicle, with the scenario's arena.
            radius_m: radius of its body.
            order: which teammate each row of a robot's view is.
            library: arrays and solver; by default numpy in double precision, and C where it is built.
            tether: of robots that carry a load together.

        Raises:
            UserError: the certificate does not cover what the parameters have; names it.
        """
        if name := uncovered(params):
            raise UserError(f"the certificate does not cover {name} yet; choose the filter qp.")
        self.params, self.radius_m, self._order = params, radius_m, order
        self.figures = figures_of(params, radius_m, tether=tether)
        self._in_numpy, self._xp = library is None, library.xp if library else np
        found = Certificate(params, self.figures, library) if library else certificate_of(params, self.figures)
        self.certificate = found
        self._kind = self._xp.zeros(0).dtype
        self._separation_m, self._period_s = params.safety.separation_m, params.period_s

    def init(self, batch: tuple[int, ...]) -> CertifiedTeamCarry:
        """Memory before the first decision, for robots [..., N]."""
        xp = self._xp
        leads = self._leads(batch)
        robots = self.certificate.init(xp.full((*batch, 3), xp.nan), leads.shape[-1], xp.zeros(batch))
        none = self._as_heard(self.certificate.said(robots, leads))
        return CertifiedTeamCarry(robots, none, (none,) * KEPT_DECISIONS, xp.zeros(batch, int))

    def __call__(
        self, carry: CertifiedTeamCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[CertifiedTeamCarry, FilterResult]:
        """(memory, views [..., N], nominal [..., N, 4], or [..., N, 5] with the front's gain) -> (memory, result)."""
        xp, wanted = self._xp, self._xp.asarray(nominal, self._kind)
        now_s = carry.decisions * self._period_s
        robots, heard, said = self._begun_again(view, now_s, (carry.robots, carry.heard, carry.sent))
        heard, leads = self._received(view, heard, said), self._leads(now_s.shape)
        given = DecisionInputs(view, heard, leads, xp.ones(leads.shape, bool), wanted, now_s)
        robots, found = self.certificate.step(robots, given)
        sent = (self._as_heard(found.word), *said[:-1])
        has_own = xp.isfinite(view.own.pos_m).all(-1)
        away = xp.asarray(view.heard.pos_m, self._kind) - xp.asarray(view.own.pos_m, self._kind)[..., None, :]
        gap = xp.where(view.heard.mask, xp.linalg.norm(away, axis=-1), math.inf).min(-1, initial=math.inf)
        result = FilterResult(
            command=found.command,
            nominal=nominal,
            active=~(xp.abs(found.command - wanted[..., :SENT]) <= 1e-9).all(-1),
            slack=now_s * 0,
            solved=~found.vetoed,
            reason=xp.where(has_own, int(Reason.OK), int(Reason.NON_FINITE)),
            margin_m=gap - self._separation_m,
        )
        return carry._replace(robots=robots, heard=heard, sent=sent, decisions=carry.decisions + 1), result

    def seen(self, carry: CertifiedTeamCarry, view: LocalView) -> LocalView:
        """Return the view that policies decide on: placed robots are where their references are."""
        led = at_reference(carry.robots, view, self.params.look_ahead_m)
        return view._replace(own=self._where(carry.robots.placed, led.own, view.own))

    def _leads(self, batch: tuple[int, ...]) -> Array:
        """[..., N, K] bool: the robot leads the pair."""
        leads = np.arange(batch[-1])[:, None] < self._order(batch[-1])
        return self._xp.broadcast_to(self._xp.asarray(leads), (*batch, leads.shape[-1]))

    def _where(self, choice: Array, new: Branch, old: Branch) -> Branch:
        """Return the arrays [..., N, more axes] of one tree where `choice` [..., N], or [..., N, K], is true, else of
        the other."""
        xp, axes = self._xp, choice.ndim

        def pick(a: Array, b: Array) -> Array:
            return a if a is b else xp.where(choice.reshape(choice.shape + (1,) * (b.ndim - axes)), a, b)

        return jax.tree.map(pick, new, old)

    def _begun_again(
        self, view: LocalView, now_s: Array, known: tuple[CertifiedCarry, Word, tuple[Word, ...]]
    ) -> tuple[CertifiedCarry, Word, tuple[Word, ...]]:
        """Return memory and words; teams with a robot far outside its tube, because it was pushed or put elsewhere,
        remember nothing but their biases, and take their places anew."""
        robots, heard, sent = known
        off = tubes_off(robots, view, self.figures, self.params.look_ahead_m, now_s)
        lost = (off > ELSEWHERE_TUBES) & robots.placed
        if self._in_numpy and not lost.any():
            return known
        xp = self._xp
        anew = xp.broadcast_to(lost.any(-1, keepdims=True), lost.shape)
        none = self.certificate.init(xp.full((*off.shape, 3), xp.nan), heard.number.shape[-1], robots.course.at_s)
        fresh = none._replace(bias=robots.bias, commands=robots.commands)
        words = (w._replace(number=xp.where(anew[..., None], -1, w.number)) for w in (heard, *sent))
        heard, *sent = words
        return self._where(anew, fresh, robots), heard, tuple(sent)

    def _received(self, view: LocalView, heard: Word, sent: tuple[Word, ...]) -> Word:
        """Return the newest words heard, now that messages of these ages have arrived."""
        xp = self._xp
        ago = xp.maximum(xp.rint(xp.minimum(view.heard.age_s / self._period_s, KEPT_DECISIONS + 1)), 1)
        for back, words in enumerate(sent, 1):
            heard = self._where(view.heard.mask & (ago == back), words, heard)
        return heard

    def _as_heard(self, said: Word) -> Word:
        """The words [..., N, K] that each robot hears from its teammates, given those that each says to them."""
        if not said.number.shape[-1]:
            return said
        mates = self._order(said.number.shape[-2])
        robots = np.arange(len(mates))[:, None, None]
        back = (mates[mates] == robots).argmax(-1)  # the row that a robot has in its teammate's view
        before = (slice(None),) * (said.number.ndim - 2)
        return each(said, lambda part: part[(*before, mates, back)])


class CertifiedPlayers:
    """The certificate as the guard of a simulated team whose commands are of another kind."""

    def __init__(self, way: CertifiedCommand, radius_m: float, library: Library | None = None) -> None:
        """Work out the numbers: how the commands go through the certificate, the radius of a robot's body, and library
        as of `CertifiedTeam`."""
        self._way, self._team = way, CertifiedTeam(way.params, radius_m, library=library, tether=way.tether)
        self.params, self.init = way.params, self._team.init
        self.figures, self.radius_m = self._team.figures, radius_m

    def __call__(
        self, carry: CertifiedTeamCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[CertifiedTeamCarry, FilterResult]:
        """(memory, views [E, N], nominal [E, N, A]) -> (memory, result)."""
        return self._way(self._team, carry, view, nominal)

    def seen(self, carry: CertifiedTeamCarry, view: LocalView) -> LocalView:
        """Return the view that policies decide on: placed robots are where their references are, and a load that they
        carry is as far ahead as they."""
        return self._way.seen(view, self._team.seen(carry, view))


def certified_team(
    scenario: Scenario, params: SafetyParams, library: Library | None = None
) -> CertifiedTeam | CertifiedPlayers:
    """The certificate as the guard of a scenario's team; `library` as of `CertifiedTeam`.

    Raises:
        UserError: the certificate does not cover such a team.
    """
    action, radius_m = simulation_of(scenario).action(scenario), scenario.vehicle_config.body.radius_m
    if (certified := command_of(action).certified) is not None:
        guard = CertifiedPlayers(certified(params, to_dict(scenario)), radius_m, library)
        simulation_of(scenario).check_certified(scenario, guard.figures)
        return guard
    if tuple(field.name for field in action.sent) != PLAIN:
        raise UserError(
            f"{scenario.name}: the certificate moves robots by acceleration and yaw rate; choose the filter qp."
        )
    return CertifiedTeam(params, radius_m, library=library)
