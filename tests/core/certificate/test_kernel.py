"""The certificate in C against the one in numpy: every output and every part of the memory."""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.certificate.flight import Crowd, CrowdFlight
from benchmarks.certificate.hunted import Hunt, HuntedFlight
from benchmarks.filter.fallbacks.drive import believed
from robomarl.core.certificate.certificate import Certificate
from robomarl.core.certificate.course import SPEED_FLOOR_M_S, CommittedCourse
from robomarl.core.certificate.figures import figures_of
from robomarl.core.certificate.kernel import KernelCertificate, certificate_of
from robomarl.core.certificate.memory import CertifiedCarry, DecisionInputs
from robomarl.core.certificate.rule import Pair
from robomarl.core.certificate.tether import Tether
from robomarl.core.config import UserError
from robomarl.core.filter import kernel
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.filter.model.strangers import Strangers
from robomarl.core.tree import leaves
from robomarl.core.view import blank_view
from tests.core.filter.views import PARAMS

needs_kernel = pytest.mark.skipif(not kernel.usable(), reason="the C kernel is not built here")
VEHICLES = ("crazyflie_21", "carrier_600", "ssl_omni", "turtlebot3_burger")
TETHER = Tether(apart_m=4.0, height_m=1.2, accel_m_s2=0.25, speed_m_s=0.55, stop_s=2.2)
KINDS: dict[str, str] = dict(zip(VEHICLES, ("corner", "ring", "corridor", "corner"), strict=True))


def assert_equal(found: Any, right: Any, most: float = 1e-9) -> None:
    for (name, a), (_, b) in zip(leaves(found), leaves(right), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape and (a.dtype.kind == b.dtype.kind), name
        np.testing.assert_allclose(a.astype(float), b.astype(float), atol=most, rtol=0, err_msg=name)


def rebuilt(tree: Any, parts: list[Any]) -> Any:
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)


def without_rest(tree: Any) -> Any:
    """The same without the brakes of references at rest: quotients of velocities that are rounding."""
    if isinstance(tree, CommittedCourse):
        rests = np.linalg.norm(tree.vel_m_s, axis=-1) < SPEED_FLOOR_M_S
        return tree._replace(brake_m_s2=np.where(rests, 0.0, tree.brake_m_s2))
    return rebuilt(tree, [without_rest(part) for part in tree]) if isinstance(tree, tuple) else tree


class Both(KernelCertificate):
    """Decides in C, and compares each decision with numpy's."""

    def __init__(self, plain: Certificate) -> None:
        """Of the same numbers."""
        super().__init__(plain.params, plain.figures)
        self.plain, self.moved, self.vetoed, self.decisions = plain, 0, 0, 0

    def step(self, carry: CertifiedCarry, given: DecisionInputs) -> Any:
        """Once by each."""
        after, found = super().step(carry, given)
        assert_equal(*map(without_rest, ((after, found), self.plain.step(carry, given))))
        self.moved, self.vetoed = self.moved + int(found.moves.sum()), self.vetoed + int(found.vetoed.sum())
        self.decisions += found.moves.size
        return after, found


def flown(crowd: Crowd, obstacles: tuple[Obstacle, ...] = (), tether: Tether | None = None) -> tuple[CrowdFlight, Both]:
    """A crowd that decides by both, in numpy's arithmetic of the plain class."""
    team = CrowdFlight(crowd)
    params = team.certificate.params
    if obstacles:
        params = replace(params, obstacles=obstacles, safety=replace(params.safety, clearance_m=0.1))
    if obstacles or tether:
        team.figures = figures_of(params, team.words.radius_m, tether=tether)
    both = Both(Certificate(params, team.figures, team.certificate.library))
    team.certificate = both
    return team, both


@needs_kernel
@pytest.mark.parametrize("deaf_after_s", [None, 2.0])
@pytest.mark.parametrize("vehicle", VEHICLES)
def test_crowds_decide_as_in_numpy(vehicle: str, deaf_after_s: float | None):
    """300 decisions with late and lost messages, biases that are not known yet and then are, to 1e-9."""
    team, both = flown(Crowd(vehicle, KINDS[vehicle], count=5, episodes=3, deaf_after_s=deaf_after_s, seed=21))
    for step in range(300):
        team.tick(step)
    assert 0.02 < both.vetoed / both.decisions < 0.98 and both.moved / both.decisions > 0.1


@needs_kernel
@pytest.mark.parametrize("vehicle", VEHICLES)
def test_robots_that_lose_themselves_decide_as_in_numpy(vehicle: str):
    """Own states, ages and wishes that are no numbers, now and then, for one decision or for fifty."""
    team, both = flown(Crowd(vehicle, "ring", count=4, episodes=4, seed=22))
    random, decide = np.random.default_rng(5), both.step

    def spoilt(carry: CertifiedCarry, given: DecisionInputs) -> Any:
        lost = random.random((4, 4)) < 0.05
        lost[0] |= 100 < step < 150
        own = given.view.own
        own = own._replace(
            pos_m=np.where(lost[..., None], np.nan, own.pos_m),
            vel_m_s=np.where((lost & (random.random((4, 4)) < 0.5))[..., None], np.inf, own.vel_m_s),
            age_s=np.where(random.random((4, 4)) < 0.02, np.nan, 0.01 * random.random((4, 4))),
        )
        wish = np.where(random.random((4, 4, 1)) < 0.05, np.nan, given.nominal)
        return decide(carry, given._replace(view=given.view._replace(own=own), nominal=wish))

    both.step = spoilt  # type: ignore[method-assign]
    for step in range(300):
        team.tick(step)
    assert both.moved > 100


@needs_kernel
@pytest.mark.parametrize("apart", [(0.44, 0.0, 0.0), (0.0, 0.0, 0.8)])
def test_a_robot_that_is_driven_at_a_teammate_nearer_than_d_leads_away_until_both_agree(apart: tuple[float, ...]):
    """The leader wants to go through its teammate, which wants to stay. It must not rest there for ever."""
    team, both = flown(Crowd("crazyflie_21", "ring", count=2, episodes=6, seconds=6.0, seed=3))
    team.team.pos[:, 1] = team.team.pos[:, 0] + apart
    team.carry = both.init(team.team.pos.copy(), 1, np.zeros((6, 2)))
    team.heard = team.radio.first(both.said(team.carry, team.leads))
    squash, at_first = np.array(team.figures.squash), np.linalg.norm(np.array(apart) * team.figures.squash)
    push = np.stack([np.array(apart), np.zeros(3)]) / np.linalg.norm(apart) * 2.0
    team.signals.wish = lambda now, vel, step: np.broadcast_to(np.pad(push, ((0, 0), (0, 1))), (6, 2, 4))  # type: ignore[method-assign]
    least = np.inf
    for step in range(200):
        team.tick(step)
        pos = team.carry.course.pos_m * squash
        least = min(least, np.linalg.norm(pos[:, 0] - pos[:, 1], axis=-1).min())
    assert (team.carry.pact.number > 0).all()
    assert least >= at_first - 0.03, "its first estimate is off by as much"
    assert team.outcome().references_m >= team.outcome().kept_m - 1e-6


@needs_kernel
def test_obstacles_are_kept_clear_of_as_in_numpy():
    """A ball, a post and a box in the middle of the ring: courses are refused because of them."""
    obstacles = (
        Obstacle("sphere", (0.1, 0.0, 1.5), radius_m=0.2),
        Obstacle("capsule", (0.8, -0.5, 0.5), to_m=(0.8, -0.4, 2.0), radius_m=0.1),
        Obstacle("box", (-1.3, -0.5, 0.5), to_m=(-1.0, 0.5, 2.0)),
    )
    team, both = flown(Crowd("crazyflie_21", "ring", count=4, episodes=4, seed=23), obstacles)
    for step in range(300):
        team.tick(step)
    assert both.vetoed > 200 and both.moved > 500


@needs_kernel
@pytest.mark.parametrize(("vehicle", "tether"), [*((name, None) for name in VEHICLES), ("carrier_600", TETHER)])
def test_anchors_anywhere_are_judged_as_in_numpy(vehicle: str, tether: Tether | None):
    """From so near that nothing is allowed to so far that C does not look at the pair; some have not rested in time.
    Carriers are held by their tether too: without it more of them move."""
    team, both = flown(Crowd(vehicle, "ring", count=6, episodes=8, seed=24), tether=tether)
    for step in range(60):
        team.tick(step)
    carry, given, shares, random = team.carry, inputs_of(team), [], np.random.default_rng(6)
    loose, held = KernelCertificate(both.params, replace(both.figures, tether=None)), 0

    def thrown(course: CommittedCourse, about: CommittedCourse, far_m: float) -> CommittedCourse:
        away, fast = random.normal(size=course.pos_m.shape), random.normal(size=course.pos_m.shape)
        away *= random.uniform(0.0, far_m, away.shape[:-1])[..., None] / np.linalg.norm(away, axis=-1, keepdims=True)
        late, brake = random.uniform(-1, 0.5, course.at_s.shape), random.uniform(0.2, 3, course.at_s.shape)
        pos, at_s = about.pos_m[..., None, :] + away, about.at_s[..., None] + late
        return course._replace(pos_m=pos, vel_m_s=fast * 0.3, at_s=at_s, brake_m_s2=brake)

    for _ in range(60):
        pairs = [
            Pair(thrown(pair.mine, carry.course, 0.3), thrown(pair.theirs, carry.course, 6.0))
            for pair in (carry.pact.agreed, carry.pact.offer, given.word.offer)
        ]
        alone = random.random(given.leads.shape) < 0.6  # few teammates count, so that some robots may move
        pact = carry.pact._replace(agreed=pairs[0], offer=pairs[1], is_open=random.random(alone.shape) < 0.3)
        pact = pact._replace(number=np.where(alone, 0, pact.number), is_open=pact.is_open & ~alone)
        word = given.word._replace(offer=Pair(pairs[2].theirs, pairs[2].mine), offered=given.word.offered + 3)
        asked = carry._replace(pact=pact), given._replace(word=word, present=~alone)
        _, found = both.step(*asked)
        shares.append(found.moves.mean())
        held += int((loose.step(*asked)[1].moves & ~found.moves).sum())
    assert 0.02 < np.mean(shares) < 0.98
    assert (held > 100) == (tether is not None)


def inputs_of(team: CrowdFlight) -> DecisionInputs:
    """The next decision of a crowd that was flown for 60 decisions."""
    shape = team.team.pos.shape[:2]
    view = blank_view(shape[1] - 1, batch=shape)._replace(own=believed(team.team, team.team.pos, team.team.vel))
    wish = np.concatenate([-team.team.pos * 0.5, np.zeros((*shape, 1))], -1)
    return DecisionInputs(view, team.heard, team.leads, team.present, wish, np.full(shape, 1.2))


def one_of(tree: Any, robot: tuple[int, int]) -> Any:
    if not isinstance(tree, tuple):
        return np.array(np.asarray(tree)[robot])
    return rebuilt(tree, [one_of(part, robot) for part in tree])


@needs_kernel
@pytest.mark.parametrize("vehicle", VEHICLES)
def test_one_robot_decides_as_one_of_many(vehicle: str):
    """In every bit, whether C reads Python's objects or they are copied first, and the next decision as well."""
    team, _ = flown(Crowd(vehicle, "ring", count=5, episodes=2, seed=25))
    for step in range(60):
        team.tick(step)
    given, certificate = inputs_of(team), KernelCertificate(team.certificate.params, team.figures)
    many = certificate.step(team.carry, given)
    again = certificate.step(many[0], given._replace(now_s=given.now_s + 0.02))
    for robot in np.ndindex(2, 5):
        asked, carry = one_of(given, robot), one_of(team.carry, robot)
        found = certificate.step(carry, asked)
        assert_equal(found, one_of(many, robot), 0.0)
        as_lists = asked._replace(nominal=asked.nominal.tolist(), now_s=float(asked.now_s))
        assert_equal(certificate.step(carry, as_lists), found, 0.0)
        later = asked._replace(now_s=asked.now_s + 0.02)
        assert is_plain(certificate, found[0], later)
        assert_equal(certificate.step(found[0], later), one_of(again, robot), 0.0)


def is_plain(certificate: KernelCertificate, carry: CertifiedCarry, given: DecisionInputs) -> bool:
    """Whether C reads these objects itself."""
    lay = certificate._laid_out(given.leads.shape[-1])
    memory, found = (np.empty(kind.itemsize // 8) for kind in (lay.memory, lay.found))
    return certificate._c.certify(lay.plain, carry, (given.view.own, *given[1:], ()), memory, found)


@needs_kernel
@pytest.mark.parametrize("vehicle", VEHICLES)
def test_robots_among_strangers_decide_as_in_numpy(vehicle: str):
    """Hunted for 200 decisions; some sightings are no numbers, others are of nobody."""
    hunt = HuntedFlight(Hunt(Crowd(vehicle, KINDS[vehicle], count=4, episodes=4, seed=29), strangers=3))
    plain = Certificate(hunt.certificate.params, hunt.figures, hunt.certificate.library)
    both, random = Both(plain), np.random.default_rng(7)
    hunt.certificate, decide = both, both.step

    def spoilt(carry: CertifiedCarry, given: DecisionInputs) -> Any:
        seen: Any = given.view.sensed
        lost = random.random(seen.strangers_mask.shape) < 0.01
        seen = seen._replace(
            strangers_pos_m=np.where(lost[..., None] & (random.random(3) < 0.5), np.nan, seen.strangers_pos_m),
            strangers_vel_m_s=np.where(lost[..., None] & (random.random(3) < 0.3), np.inf, seen.strangers_vel_m_s),
            strangers_age_s=np.where(lost, np.nan, seen.strangers_age_s),
            strangers_mask=seen.strangers_mask & ~(lost & (random.random(lost.shape) < 0.5)),
        )
        with np.errstate(invalid="ignore"):
            return decide(carry, given._replace(view=given.view._replace(sensed=seen)))

    both.step = spoilt  # type: ignore[method-assign]
    for step in range(200):
        hunt.tick(step)
    assert both.moved / both.decisions > 0.05 and 0.05 < both.vetoed / both.decisions < 0.98


@needs_kernel
def test_one_robot_among_strangers_decides_as_one_of_many():
    """In every bit, and C reads the sightings as they are."""
    hunt = HuntedFlight(Hunt(Crowd("ssl_omni", "ring", count=3, episodes=2, seed=30), strangers=2))
    for step in range(60):
        hunt.tick(step)
    certificate = KernelCertificate(hunt.certificate.params, hunt.figures)
    given = inputs_of(hunt)._replace(view=hunt.sees(inputs_of(hunt).view, 60))
    many = certificate.step(hunt.carry, given)
    for robot in np.ndindex(2, 3):
        asked, carry = one_of(given, robot), one_of(hunt.carry, robot)
        assert_equal(certificate.step(carry, asked), one_of(many, robot), 0.0)
        lay = certificate._laid_out(2, 2)
        memory, found = (np.empty(kind.itemsize // 8) for kind in (lay.memory, lay.found))
        seen = Strangers(*asked.view.sensed)
        assert certificate._c.certify(lay.plain, carry, (asked.view.own, *asked[1:], seen), memory, found)


@needs_kernel
def test_gains_that_a_policy_sets_decide_as_in_numpy():
    """From 0 to beyond the file's, some of them no numbers; and one robot as one of many."""
    team, both = flown(Crowd("ssl_omni", "ring", count=4, episodes=3, seed=31))
    random, decide = np.random.default_rng(8), both.step

    def gained(given: DecisionInputs) -> DecisionInputs:
        gain = random.choice([0.0, 0.1, 1.0, 9.0, np.nan], given.leads.shape[:-1], p=[0.2, 0.3, 0.28, 0.2, 0.02])
        return given._replace(nominal=np.concatenate([given.nominal, gain[..., None]], -1))

    both.step = lambda carry, given: decide(carry, gained(given))  # type: ignore[method-assign]
    for step in range(150):
        team.tick(step)
    assert both.moved > 100
    given, certificate = gained(inputs_of(team)), KernelCertificate(team.certificate.params, team.figures)
    many = certificate.step(team.carry, given)
    assert_equal(certificate.step(one_of(team.carry, (1, 2)), one_of(given, (1, 2))), one_of(many, (1, 2)), 0.0)


@needs_kernel
def test_what_lies_otherwise_is_left_alone_and_nothing_is_held():
    team, _ = flown(Crowd("crazyflie_21", "ring", count=4, episodes=1, seed=26))
    certificate = KernelCertificate(team.certificate.params, team.figures)
    given = one_of(inputs_of(team), (0, 0))
    carry, _ = certificate.step(one_of(team.carry, (0, 0)), given)
    wrong = [
        (carry._replace(accels=carry.accels[1:]), given),
        (carry._replace(placed=1.0), given),
        (carry._replace(pact=carry.pact._replace(number=carry.pact.number.astype(float))), given),
        (tuple(carry[:-1]), given),
        ((*carry, carry.trip), given),
        (carry, given._replace(nominal=np.repeat(given.nominal, 2)[::2])),
        (carry, given._replace(leads=given.leads.astype(int))),
        (carry, given._replace(word=())),
        (None, given),
    ]
    watched = [*(leaf for _, leaf in leaves(carry)), given.nominal, given.leads]
    before = [sys.getrefcount(thing) for thing in watched]
    for _ in range(100):
        assert is_plain(certificate, carry, given)
        assert not any(is_plain(certificate, *pair) for pair in wrong)  # type: ignore[arg-type]
    held = [sys.getrefcount(thing) - count for thing, count in zip(watched, before, strict=True)]
    assert max(held) < 20 and min(held) > -20, held
    with pytest.raises(ValueError, match="broadcast"):
        certificate.step(carry._replace(accels=carry.accels[1:]), given)


@needs_kernel
def test_a_robot_without_teammates_decides_as_in_numpy():
    team, both = flown(Crowd("crazyflie_21", "ring", count=2, episodes=3, seed=27))
    pos, zero = team.team.pos[:, 0], np.zeros(3)
    carry = both.init(pos, 0, zero)
    none = np.zeros((3, 0), bool)
    view = blank_view(0, batch=(3,))
    view = view._replace(own=view.own._replace(pos_m=pos, vel_m_s=zero[:, None] + np.zeros(3), age_s=zero))
    for step in range(20):
        wish = np.full((3, 4), 1.0)
        given = DecisionInputs(view, both.said(carry, none), none, none, wish, zero + 0.02 * step)
        carry, found = both.step(carry, given)
    assert found.moves.all()


def test_without_c_numpy_decides_and_the_note_says_why(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernel, "MODULE", "robomarl.core.filter.kernel._nothing")
    kernel._find.cache_clear()
    found = certificate_of(PARAMS, figures_of(PARAMS, 0.07))
    kernel._find.cache_clear()
    assert type(found) is Certificate and "install robomarl anew where a compiler is" in found.note


@needs_kernel
def test_periods_that_c_has_no_room_for_are_for_numpy():
    """0.7 s: 34 times would be compared."""
    params = replace(PARAMS, period_s=0.7, safety=replace(PARAMS.safety, gain_per_s=0.5))
    found = certificate_of(params, replace(figures_of(PARAMS, 0.07), period_s=0.7, segments=32))
    assert type(found) is Certificate and "period_s = 0.7" in found.note
    assert certificate_of(PARAMS, figures_of(PARAMS, 0.07)).note == ""


@needs_kernel
def test_strangers_are_refused_as_in_numpy():
    team, both = flown(Crowd("crazyflie_21", "ring", count=3, episodes=1, seed=28))
    given = inputs_of(team)

    class Seen(tuple):  # noqa: SLOT001
        strangers_pos_m = 0

    with pytest.raises(UserError, match="strangers is unset"):
        KernelCertificate.step(both, team.carry, given._replace(view=given.view._replace(sensed=Seen((1.0,)))))
