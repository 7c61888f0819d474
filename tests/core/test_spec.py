"""Observations depend on what the spec names, and on nothing else."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.core.config import UserError
from robomarl.core.domain.registry import find_features
from robomarl.core.features import FEATURES, MANY, NeighbourRule, feature, neighbours
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.core.view import LoadSensed, LocalView, blank_view

RULE = NeighbourRule(count=2, range_m=4.0, max_age_s=0.5)
MATES = 4
find_features(["of no domain, so that all register theirs"])
OTHERS = ("robomarl.domains.soccer.", "robomarl.domains.ground.", "robomarl.domains.volleyball.")
NAMES = sorted(name for name, made in FEATURES.items() if not made.read.__module__.startswith(OTHERS))
"""Those of every task; what soccer, volleyball and ground robots add has sensors of its own, and tests beside it."""


def random_view(seed: int, batch: tuple[int, ...] = ()) -> LocalView:
    """A view full of numbers; attitudes are unit quaternions, all mates heard."""
    random = np.random.default_rng(seed)
    view = _fill(whole_view(batch), random)
    sensed: Any = view.sensed
    quats = (view.own.quat_wxyz, view.goal.quat_wxyz, sensed.load_quat_wxyz)
    unit = [q / np.linalg.norm(q, axis=-1, keepdims=True) for q in quats]
    heard = view.heard._replace(mask=np.ones((*batch, MATES), bool), age_s=np.abs(view.heard.age_s) / 10)
    return view._replace(
        own=view.own._replace(quat_wxyz=unit[0]),
        goal=view.goal._replace(quat_wxyz=unit[1]),
        sensed=sensed._replace(load_quat_wxyz=unit[2], length_m=np.abs(sensed.length_m) + 1),
        heard=heard,
        role=np.full(batch, seed % 6, np.int32),
    )


def _each(tree: Any, change: Any) -> Any:
    return type(tree)(*(_each(part, change) for part in tree)) if isinstance(tree, tuple) else change(tree)


def whole_view(batch: tuple[int, ...] = ()) -> LocalView:
    """A view with a load, so that it has all that the features read."""
    vector, scalar = np.zeros((*batch, 3), np.float32), np.zeros(batch, np.float32)
    quat, grip = np.zeros((*batch, 4), np.float32), np.zeros((*batch, 3, 4), np.float32)
    return blank_view(MATES, LoadSensed(vector, quat, vector, grip, scalar), batch)


def _fill(tree: Any, random: np.random.Generator) -> Any:
    if isinstance(tree, tuple):
        return type(tree)(*(_fill(item, random) for item in tree))
    return np.clip(random.normal(size=tree.shape), -2, 2).astype(np.float32)


def paths(tree: Any, prefix: str = "") -> Iterator[str]:
    """Dotted name of every array in a view."""
    for name in tree._fields:
        item = getattr(tree, name)
        yield from paths(item, f"{prefix}{name}.") if isinstance(item, tuple) else [f"{prefix}{name}"]


def replaced(tree: Any, path: str, change: Any) -> Any:
    """The view with one array changed."""
    name, _, rest = path.partition(".")
    item = getattr(tree, name)
    return tree._replace(**{name: replaced(item, rest, change) if rest else change(item)})


def disturb(value: np.ndarray) -> np.ndarray:
    return ~value if value.dtype == bool else (value * -1.7 + 3).astype(value.dtype)


VIEW_PATHS = list(paths(whole_view()))


def spec_of(*names: str, history: int = 1) -> ObservationSpec:
    return ObservationSpec(tuple(ObservationField(name, history) for name in names), RULE)


MEANS = tuple(ObservationField(name, keep=0.9) for name in ("near_error", "neighbours"))
EVERY = replace(spec_of(*NAMES, history=3), fields=(*spec_of(*NAMES, history=3).fields, *MEANS))
TRACED = SimpleNamespace(init=jax.jit(EVERY.init), observe=jax.jit(EVERY.observe))


@pytest.mark.parametrize("name", NAMES)
def test_what_a_feature_does_not_declare_does_not_matter(name: str):
    spec = spec_of(name)
    assert spec.reads <= set(VIEW_PATHS)
    view = random_view(1)
    _, before = spec.observe(spec.init(view), view)
    for path in VIEW_PATHS:
        other = replaced(view, path, disturb)
        _, after = spec.observe(spec.init(other), other)
        same = np.array_equal(before, after)
        assert same or path in spec.reads, f"{name} depends on {path} without saying so"


@pytest.mark.parametrize("name", NAMES)
def test_what_a_feature_declares_does_matter(name: str):
    spec = spec_of(name)
    changed = set()
    for seed in range(5):
        view = random_view(seed)
        _, before = spec.observe(spec.init(view), view)
        for path in spec.reads:
            other = replaced(view, path, disturb)
            if not np.array_equal(before, spec.observe(spec.init(other), other)[1]):
                changed.add(path)
    assert changed == spec.reads


@pytest.mark.parametrize("name", NAMES)
def test_every_element_has_a_name(name: str):
    spec, view = spec_of(name, history=3), random_view(2, (5,))
    _, obs = spec.observe(spec.init(view), view)
    assert obs.shape == (5, spec.size)
    assert obs.dtype == np.float32
    assert len(set(spec.element_names())) == spec.size


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**31 - 1))
def test_one_robot_a_batch_and_jax_see_the_same(seed: int):
    """One robot is worked out on Python's floats, in a row of decisions."""
    views = [random_view(seed + i, (2,)) for i in range(3)]
    alone = [_each(view, lambda leaf: np.array(leaf[1], leaf.dtype)) for view in views]
    memory = [
        spec.init(first) for spec, first in zip((EVERY, EVERY, TRACED), (views[0], alone[0], views[0]), strict=True)
    ]
    for view, one in zip(views, alone, strict=True):
        given = zip((EVERY, EVERY, TRACED), memory, (view, one, view), strict=True)
        memory, (many, single, traced) = zip(*(spec.observe(m, v) for spec, m, v in given), strict=True)
        assert {many.dtype, single.dtype, traced.dtype} == {np.dtype(np.float32)}
        np.testing.assert_allclose(single, many[1], rtol=2e-5, atol=2e-5)
        np.testing.assert_allclose(traced, many, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_finite_is_not_hidden(name: str, bad: float):
    """Python's own min and max swallow NaN where numpy's do not, and its division raises: neither may matter."""
    spec = spec_of(name)
    for path in spec.reads - {"role", "heard.mask", "heard.age_s"}:
        view = replaced(random_view(1), path, lambda value: value * bad)
        _, obs = spec.observe(spec.init(view), view)
        heard = path.startswith("heard") or name == "neighbours"  # far away is not heard
        assert heard or not np.isfinite(obs).all(), f"{name} hides {path}"


def test_history_is_the_past_oldest_first():
    spec = spec_of("velocity", history=3)
    views = [replaced(random_view(0), "own.vel_m_s", lambda v, k=k: v * 0 + k) for k in (1, 2, 3, 4)]
    memory = spec.init(views[0])
    seen = []
    for view in views:
        memory, obs = spec.observe(memory, view)
        seen.append(obs.reshape(3, 3)[:, 0].tolist())
    assert seen == [[1, 1, 1], [1, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert spec.element_names()[0] == "velocity.x@-2"


def test_a_mean_forgets_at_its_rate_and_begins_with_what_is_seen_first():
    spec = ObservationSpec((ObservationField("velocity", keep=0.75), ObservationField("velocity")), RULE)
    views = [replaced(random_view(0), "own.vel_m_s", lambda v, k=k: v * 0 + k) for k in (4, 4, 0, 0)]
    memory, seen = spec.init(views[0]), []
    for view in views:
        memory, obs = spec.observe(memory, view)
        seen.append(obs[[0, 3]].tolist())
    assert seen == [[4, 4], [4, 4], [3, 0], [2.25, 0]]
    assert spec.element_names() == [f"velocity.{axis}{mark}" for mark in ("@mean", "") for axis in "xyz"]
    assert spec.memory_shapes == [("velocity", (1, 3))]


def test_how_far_a_value_has_gone_is_from_its_mean_and_not_from_the_origin():
    """By hand, half of the mean kept; the second mean of a feature has a name of its own."""
    spec = ObservationSpec(tuple(ObservationField("goal_place", keep=k, gone=True) for k in (0.5, 0.75)), RULE)
    names = [f"goal_place.{axis}@gone{mark}" for mark in ("", "2") for axis in "xyz"]
    assert spec.element_names() == names
    for batch in ((), (2,)):
        views = [replaced(random_view(0, batch), "goal.pos_m", lambda v, k=k: v * 0 + k) for k in (104, 104, 100, 100)]
        memory, seen = spec.init(views[0]), []
        for view in views:
            memory, obs = spec.observe(memory, view)
            seen.append(obs.reshape(-1, 6)[0, [0, 3]].tolist())
        assert seen == [[0, 0], [0, 0], [-2, -3], [-1, -2.25]]
    with pytest.raises(UserError, match="'velocity' has gone without keep"):
        ObservationSpec((ObservationField("velocity", gone=True),), RULE)


def test_an_error_far_from_the_goal_does_not_wind_up():
    """Half of the error is left at 0.2 m, 2 m away there is no more of it than at 2 cm; each axis is for itself."""
    near, edge, far = (seen_error(distance) for distance in (0.02, 0.2, 2.0))
    assert near[0] == pytest.approx(0.02, rel=0.02)
    assert edge[0] == pytest.approx(0.1, rel=1e-4)
    assert far[0] <= near[0] * 1.01
    assert seen_error(2.0, 0.2)[2] == edge[0]


def seen_error(x_m: float, z_m: float = 0.0) -> np.ndarray:
    view = replaced(random_view(0), "own.pos_m", lambda p: p * 0)
    view = replaced(view, "goal.pos_m", lambda p: p * 0 + np.array([x_m, 0, z_m], np.float32))
    return spec_of("near_error").observe((), view)[1]


@given(st.permutations(range(MATES)))
def test_the_order_in_which_mates_were_heard_does_not_matter(order: list[int]):
    spec, view = spec_of("neighbours"), random_view(3)
    plan = view.heard.plan
    shuffled = view.heard._replace(
        **{name: getattr(view.heard, name)[order] for name in ("mask", "pos_m", "vel_m_s", "age_s")}
    )
    other = view._replace(heard=shuffled._replace(plan=plan))
    assert np.array_equal(spec.observe((), view)[1], spec.observe((), other)[1])


def test_neighbours_are_the_nearest_within_range_and_age():
    view = random_view(0)
    own = view.own._replace(pos_m=np.zeros(3, np.float32), vel_m_s=np.zeros(3, np.float32))
    away = np.array([[2.0, 0, 0], [1.0, 0, 0], [0.5, 0, 0], [9.0, 0, 0]], np.float32)
    age_s = np.array([0.1, 0.0, 0.6, 0.0], np.float32)  # the third is too old, the last too far
    heard = view.heard._replace(pos_m=away, vel_m_s=np.zeros_like(away) + [0, 1, 0], age_s=age_s)
    spec = spec_of("neighbours")
    _, obs = spec.observe((), view._replace(own=own, heard=heard))
    rows = obs.reshape(2, 8)
    assert rows[0] == pytest.approx([1, 0, 0, 0, 1, 0, 0, 1])
    assert rows[1] == pytest.approx([2, 0.1, 0, 0, 1, 0, 0.1, 1])  # carried forward by its age


def test_of_many_mates_the_nearest_are_those_that_one_robot_finds_by_itself():
    """Sorted out, not compared in pairs; two are as far away as each other, some are not heard, or too far."""
    random, rule = np.random.default_rng(0), NeighbourRule(count=5, range_m=4.0, max_age_s=0.5)
    view = _fill(blank_view(MANY + 4, (), (6,)), random)
    pos_m, age_s = view.heard.pos_m, np.abs(view.heard.age_s) / 3
    pos_m[:, 3], age_s[:, [3, 7]] = 2 * view.own.pos_m - pos_m[:, 7], 0.0
    mask = random.random(age_s.shape) < 0.7
    mask[0] = np.arange(MANY + 4) < 3
    view = view._replace(heard=view.heard._replace(age_s=age_s, mask=mask))
    rows = neighbours(view, rule)
    alone = [neighbours(_each(view, lambda leaf, i=i: leaf[i]), rule) for i in range(6)]
    np.testing.assert_allclose(rows, alone, atol=1e-5)
    np.testing.assert_allclose(rows, neighbours(_each(view, jnp.asarray), rule), atol=1e-6)
    assert rows[0].reshape(5, 8)[:, -1].tolist() == [1, 1, 1, 0, 0]


def test_unknown_fields_and_histories_are_named():
    with pytest.raises(UserError, match="Observation field 'mood' is not known; allowed: .*goal_error"):
        spec_of("mood")
    with pytest.raises(UserError, match="'velocity': history = 0 must be at least 1"):
        spec_of("velocity", history=0)
    with pytest.raises(UserError, match="'velocity': keep = 1 must be from 0 to below 1"):
        ObservationSpec((ObservationField("velocity", keep=1.0),))
    with pytest.raises(UserError, match="'velocity' has keep and history; leave one of them out"):
        ObservationSpec((ObservationField("velocity", 2, 0.5),))


def test_two_modules_cannot_have_features_of_one_name():
    def velocity(view, rule):
        return view.own.vel_m_s

    with pytest.raises(ValueError, match=r"robomarl\.core\.features has a feature 'velocity' already"):
        feature(("x", "y", "z"), "m/s", "world", ("own.vel_m_s",))(velocity)
    assert FEATURES["velocity"].read.__module__ == "robomarl.core.features"
