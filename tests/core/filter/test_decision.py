"""The whole decision in C against Python: every kind of vehicle, every number that comes out, every fault."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.filter import kernel
from robomarl.core.filter.filter import Reason, SafetyFilter, SafetyParams
from robomarl.core.filter.params import Obstacle
from robomarl.core.view import LocalView
from tests.core.filter.test_vehicles import CLEAR, OBSTACLES, VEHICLES, views_for
from tests.core.filter.views import (
    PARAMS,
    leaves,
    make_view,
    pick,
    random_carry,
    random_views,
    replace_leaf,
    spread_out,
)

NUM = 300
BAD = (np.nan, np.inf, -np.inf, 1e9)
READ = ("own.pos_m", "own.vel_m_s", "own.age_s", "heard.pos_m", "heard.vel_m_s", "heard.age_s")

REMEMBERED = ("commands", *(f"bias.{name}" for name in ("estimate_m_s2", "doubt_m_s2", "anchor_m_s", "made_m_s")))

pytestmark = pytest.mark.skipif(not kernel.usable(), reason="the C kernel is not built here")


def differences(a, b) -> Iterator[tuple[str, float]]:
    """Largest difference of every array of two results; equal infinities differ by nothing."""
    for (name, x), (_, y) in zip(leaves(a), leaves(b), strict=True):
        x, y = (np.asarray(v, float) for v in (x, y))
        assert x.shape == y.shape, name
        with np.errstate(invalid="ignore"):
            apart = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y))
        yield name, float(np.max(apart, initial=0.0))


def assert_same(a, b) -> None:
    off = {name: d for name, d in differences(a, b) if not d <= 1e-9}
    assert not off


@pytest.mark.parametrize("gain", [None, 0.7])
@pytest.mark.parametrize("name", VEHICLES)
def test_c_decides_as_python_does(name: str, gain: float | None, random: np.random.Generator):
    params = VEHICLES[name]
    views, carry = views_for(params, random, NUM), random_carry(params, random, NUM)
    nominal = random.normal(size=(NUM, 4)) * 3
    python, c = SafetyFilter(params, backend="numpy"), SafetyFilter(params, backend="c")
    gains = None if gain is None else np.full(NUM, gain)
    together = c(carry, views, nominal, gains)
    assert_same(together, python(carry, views, nominal, gains))
    for i in range(0, NUM, 3):
        one = c(pick(carry, i), pick(views, i), nominal[i], gain)
        assert_same(one, pick(together, i))
        assert_same(one, python(pick(carry, i), pick(views, i), nominal[i], gain))


@pytest.mark.parametrize("gain", [None, 0.7])
def test_obstacles_that_are_too_far_to_matter_do_not_stand_for_mates(gain: float | None, random: np.random.Generator):
    """Torn robots keep clear of the last rows, those of obstacles; C leaves rows out that cannot bind."""
    far = tuple(Obstacle("sphere", (60.0 + i, 0.0, 1.5), radius_m=0.2) for i in range(3))
    params = dataclasses.replace(CLEAR, obstacles=(far[0], *OBSTACLES, *far[1:]))
    views, carry, nominal = views_for(params, random, NUM), random_carry(params, random, NUM), np.zeros((NUM, 4))
    gains = None if gain is None else np.full(NUM, gain)
    found = SafetyFilter(params, backend="c")(carry, views, nominal, gains)
    assert (~found[1].solved).sum() > NUM / 10, "some are torn"
    assert_same(found, SafetyFilter(params, backend="numpy")(carry, views, nominal, gains))


def test_the_same_over_a_whole_flight(params: SafetyParams, random: np.random.Generator):
    python, c = SafetyFilter(params, backend="numpy"), SafetyFilter(params, backend="c")
    ours, theirs = c.init(), python.init()
    for _ in range(100):
        view = pick(random_views(random, 1), 0)
        nominal = random.normal(size=4) * 3
        (ours, result), (theirs, expected) = c(ours, view, nominal), python(theirs, view, nominal)
        assert_same((ours, result), (theirs, expected))


def test_one_filter_keeps_the_memories_of_two_robots_apart(params: SafetyParams, random: np.random.Generator):
    """The memory of the last decision goes back in one piece; any other, or one that was changed, part by part."""
    shared, alone = SafetyFilter(params, backend="c"), [SafetyFilter(params, backend="numpy") for _ in range(2)]
    ours, theirs = [shared.init(), shared.init()], [f.init() for f in alone]
    for step in range(60):
        robot = int(random.integers(2))
        view, nominal = pick(random_views(random, 1), 0), random.normal(size=4) * 3
        if step % 7 == 0:
            changed = random.normal(size=3)
            ours[robot] = ours[robot]._replace(bias=ours[robot].bias._replace(estimate_m_s2=changed))
            theirs[robot] = theirs[robot]._replace(bias=theirs[robot].bias._replace(estimate_m_s2=changed))
        if step % 11 == 0:
            ours[robot].commands[...] = theirs[robot].commands[...] = 0.3
        ours[robot], result = shared(ours[robot], view, nominal)
        theirs[robot], expected = alone[robot](theirs[robot], view, nominal)
        assert_same((ours[robot], result), (theirs[robot], expected))


def test_a_large_team_decides_the_same_everywhere(random: np.random.Generator):
    """Twenty-three mates, some heard twice, of whom so many must be heard that this matters now and then."""
    params = dataclasses.replace(PARAMS, min_mates=19)
    views, carry = random_views(random, 60, 23, mask_share=0.9), random_carry(params, random, 60)
    views = spread_out(views, np.repeat([1.0, 8.0], 30)[:, None, None])
    for array in (views.heard.pos_m, views.heard.vel_m_s, views.heard.age_s):
        array[::3, 5] = array[::3, 2]
    nominal = random.normal(size=(60, 4)) * 3
    python, c = SafetyFilter(params, backend="numpy"), SafetyFilter(params, backend="c")
    together = python(carry, views, nominal)
    assert_same(c(carry, views, nominal), together)
    for i in range(60):
        assert_same(python(pick(carry, i), pick(views, i), nominal[i]), pick(together, i))
    assert {Reason.OK, Reason.INFEASIBLE, Reason.MISSING} <= set(together[1].reason.tolist())


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("leaf", [*READ, "nominal", *REMEMBERED])
def test_faults_come_to_the_same(leaf: str, bad: float, params: SafetyParams, random: np.random.Generator):
    view, carry = random_views(random, 40, mask_share=1.0), random_carry(params, random, 40)
    nominal = random.normal(size=(40, 4))
    if leaf == "nominal":
        nominal[:, 2] = bad
    elif leaf in REMEMBERED:
        broken = dict(leaves(carry))[leaf].copy()
        broken[..., -1] = bad
        carry = replace_leaf(carry, leaf, broken)
    else:
        value = dict(leaves(view))[leaf].copy()
        value.reshape(40, -1)[:, 0] = bad
        view = replace_leaf(view, leaf, value)
    low, high = params.limits.accel_min_m_s2, params.limits.accel_max_m_s2
    for backend in ("numpy", "c"):
        safety = SafetyFilter(params, backend=backend)
        one = safety(pick(carry, 3), pick(view, 3), nominal[3])
        for _, result in (safety(carry, view, nominal), one):
            assert (np.asarray(result.reason) == Reason.NON_FINITE).all(), backend
            assert not np.any(result.solved)
            assert np.isfinite(result.command).all()
            assert ((result.command[..., :3] >= low) & (result.command[..., :3] <= high)).all()


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_mate_that_is_heard_twice_is_one_mate(backend: str, params: SafetyParams):
    """The second message is older: it says where the mate was, and how fast; together with the age it is one place."""
    team = dataclasses.replace(params, min_mates=2)
    near, far = ([1.0, 0, 1.5], [-0.5, 0, 0]), ([-2.0, 0, 1.5], [0, 0, 0])
    twice = ([1.01, 0, 1.5], [-0.5, 0, 0])
    safety = SafetyFilter(team, backend=backend)  # type: ignore[arg-type]
    for mates, reason in (((near, far), Reason.OK), ((near, twice), Reason.MISSING), ((near,), Reason.MISSING)):
        view = make_view([0, 0, 1.5], [0, 0, 0], mates)
        assert safety(safety.init(), view, np.zeros(4))[1].reason == reason
        many = pick_batch(view)
        assert safety(safety.init((1,)), many, np.zeros((1, 4)))[1].reason[0] == reason


def test_a_batch_may_be_empty(random: np.random.Generator):
    """Nothing to decide is no error in either."""
    given = (random_carry(PARAMS, random, 4), random_views(random, 4), np.zeros((4, 4)))
    carry, view, nominal = (replace_all(tree, lambda leaf: leaf[:0]) for tree in given)
    python, c = SafetyFilter(PARAMS, backend="numpy"), SafetyFilter(PARAMS, backend="c")
    assert_same(c(carry, view, nominal), python(carry, view, nominal))


def pick_batch(view: LocalView) -> LocalView:
    """A batch of one."""
    return replace_all(view, lambda leaf: np.asarray(leaf)[None])


def replace_all(tree, change) -> Any:
    return type(tree)(*(replace_all(t, change) for t in tree)) if isinstance(tree, tuple) else change(tree)


def test_backends_are_chosen_at_construction(monkeypatch: pytest.MonkeyPatch):
    assert SafetyFilter(PARAMS).backend == "c"
    assert SafetyFilter(PARAMS, "textbook").backend == "numpy"
    assert SafetyFilter(PARAMS, backend="numpy").backend == "numpy"
    with pytest.raises(ValueError, match="no filter mode 'textbook'"):
        SafetyFilter(PARAMS, "textbook", "c")
    with pytest.raises(ValueError, match="not known"):
        SafetyFilter(PARAMS, backend="fortran")  # type: ignore[arg-type]
    monkeypatch.setattr(kernel, "_find", lambda: (None, "is not there"))
    assert SafetyFilter(PARAMS).backend == "numpy"
    with pytest.raises(UserError, match="C kernel"):
        SafetyFilter(PARAMS, backend="c")
