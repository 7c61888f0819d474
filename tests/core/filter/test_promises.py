"""What the filter promises: exact projections, one result on every backend, the named fallback, no collisions."""

import dataclasses
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.filter.daqp_projection import project
from robomarl.core.filter.filter import Arena, Reason, SafetyFilter, from_vehicle
from robomarl.core.filter.qp import projection
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.view import LocalView, Plan, blank_view
from robomarl.lab.jax_filter.filter import make_jax_filter
from robomarl.lab.prove.campaign.conditions import Campaign
from robomarl.lab.prove.campaign.prove import prove

VEHICLE = load_vehicle("crazyflie_21")
PARAMS = from_vehicle(VEHICLE, 0.02, Arena((-3.0, -3.0, 0.1), (3.0, 3.0, 3.0)))
SAFETY = SafetyFilter(PARAMS)
LOW, HIGH = np.array(VEHICLE.limits.accel_min_m_s2), np.array(VEHICLE.limits.accel_max_m_s2)


def problem(seed: int, rows: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A random polytope in three dimensions; every third one has rows twice, every fourth may be empty."""
    random = np.random.default_rng(seed)
    a = random.normal(size=(rows, 3))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    b = random.uniform(-1.0 if seed % 4 == 0 else 0.0, 2.0, rows)
    if seed % 3 == 0:
        a[rows // 2 :], b[rows // 2 :] = a[: rows // 2], b[: rows // 2]
    return a, b, 4 * random.normal(size=3)


def brute_force(a: np.ndarray, b: np.ndarray, u0: np.ndarray) -> np.ndarray | None:
    """The nearest point that holds all rows, by trying every set of at most three active rows."""
    best, least = None, np.inf
    for size in range(4):
        for active in itertools.combinations(range(len(b)), size):
            rows = a[list(active)]
            if size and np.linalg.matrix_rank(rows, 1e-9) < size:
                continue
            u = u0 - np.linalg.pinv(rows) @ (rows @ u0 - b[list(active)]) if size else u0
            if (a @ u - b).max() <= 1e-9 and np.sum((u - u0) ** 2) < least:
                best, least = u, np.sum((u - u0) ** 2)
    return best


@pytest.mark.parametrize("seed", range(40))
def test_projections_are_exact(seed: int) -> None:
    """daqp and the incremental projection against brute force: the same status, the same point to 1e-8."""
    a, b, u0 = problem(seed, 8)
    wanted, one, many = (
        brute_force(a, b, u0),
        project(a, b, u0),
        projection.project_batch(a[None], b[None], u0[None]),
    )
    assert bool(one.solved) == bool(many.solved[0]) == (wanted is not None)
    if wanted is not None:
        np.testing.assert_allclose(one.u, wanted, atol=1e-8)
        np.testing.assert_allclose(many.u[0], wanted, atol=1e-8)


def test_a_thousand_projections_agree_and_a_planted_wrong_row_is_found() -> None:
    """All backends on one set of vectors; a result that breaks a row never counts as solved."""
    a, b, u0 = (np.stack(x) for x in zip(*(problem(i) for i in range(1000)), strict=True))
    many = projection.project_batch(a, b, u0)
    single = [project(*p) for p in zip(a, b, u0, strict=True)]
    np.testing.assert_array_equal(many.solved, [s.solved for s in single])
    np.testing.assert_allclose(many.u, [s.u for s in single], atol=1e-9)
    residual = np.einsum("nij,nj->ni", a, many.u) - b
    assert residual[many.solved].max() <= 1e-9
    wrong = a.copy()
    wrong[:, 0] *= -1
    assert not np.allclose(projection.project_batch(wrong, b, u0).u, many.u)


def random_view(seed: int, mates: int = 3) -> LocalView:
    """A robot in the arena among mates 0.3 to 2 m away, some not heard."""
    random = np.random.default_rng(seed)
    view = blank_view(mates)
    pos = np.array([0, 0, 1.5]) + random.uniform(-0.5, 0.5, 3)
    away = random.normal(size=(mates, 3))
    away *= random.uniform(0.3, 2.0, (mates, 1)) / np.linalg.norm(away, axis=1, keepdims=True)
    state = (pos + away).astype(np.float32), random.uniform(-0.7, 0.7, (mates, 3)).astype(np.float32)
    heard = view.heard._replace(
        mask=random.random(mates) < 0.9,
        pos_m=state[0],
        vel_m_s=state[1],
        age_s=random.uniform(0.02, 0.1, mates).astype(np.float32),
        plan=Plan(state[0], state[1], state[0]),
    )
    own = view.own._replace(pos_m=pos.astype(np.float32), vel_m_s=random.uniform(-0.7, 0.7, 3).astype(np.float32))
    return view._replace(own=own, heard=heard)


def stacked(views: list[LocalView]) -> LocalView:
    """Many views as one with a leading axis."""
    return jax.tree.map(lambda *x: np.stack(x), *views)


def test_one_robot_many_robots_and_jax_give_the_same_command() -> None:
    """300 views: the scalar path, the numpy batch (1e-6) and JAX in single precision (1e-3, the same verdict)."""
    views = [random_view(i) for i in range(300)]
    nominal = np.random.default_rng(1).uniform(-4, 4, (300, 4))
    _, many = SAFETY(SAFETY.init((300,)), stacked(views), nominal)
    ones = [SAFETY(SAFETY.init(), v, n)[1] for v, n in zip(views, nominal, strict=True)]
    np.testing.assert_allclose(many.command, [r.command for r in ones], atol=1e-6)
    np.testing.assert_array_equal(many.reason, [r.reason for r in ones])
    jax_filter = make_jax_filter(PARAMS)
    on_jax = jax.tree.map(jnp.asarray, stacked(views))
    _, found = jax.jit(jax_filter)(jax_filter.init((300,)), on_jax, jnp.asarray(nominal, jnp.float32))
    same = np.asarray(found.reason) == many.reason
    assert same.mean() > 0.99
    np.testing.assert_allclose(np.asarray(found.command)[same], many.command[same], atol=1e-3)
    assert {Reason.OK, Reason.INFEASIBLE} >= {Reason(r) for r in np.unique(many.reason)}


@given(st.integers(0, 10**6), st.lists(st.floats(-50, 50), min_size=4, max_size=4))
def test_command_is_finite_and_within_the_limits_and_untouched_when_nothing_is_near(seed: int, wish: list) -> None:
    """Input limits hold to 1e-9 whatever is asked for; alone and slow, a modest wish passes unchanged."""
    _, result = SAFETY(SAFETY.init(), random_view(seed), np.array(wish))
    assert np.isfinite(result.command).all()
    assert (result.command[:3] >= LOW - 1e-9).all() and (result.command[:3] <= HIGH + 1e-9).all()
    calm = blank_view(3)._replace(own=blank_view(3).own._replace(pos_m=np.array([0, 0, 1.5], np.float32)))
    modest = np.clip(wish, -0.5, 0.5)
    _, alone = SAFETY(SAFETY.init(), calm, modest)
    np.testing.assert_allclose(alone.command, modest, atol=1e-9)
    assert not alone.active and alone.reason == Reason.OK


BAD = {
    "nan in the own position": (lambda v: v._replace(own=v.own._replace(pos_m=v.own.pos_m * np.nan)), "NON_FINITE"),
    "infinite own velocity": (lambda v: v._replace(own=v.own._replace(vel_m_s=v.own.vel_m_s + np.inf)), "NON_FINITE"),
    "nan in a mate": (lambda v: v._replace(heard=v.heard._replace(pos_m=v.heard.pos_m * np.nan)), "NON_FINITE"),
    "old mate": (lambda v: v._replace(heard=v.heard._replace(age_s=v.heard.age_s + 1)), "STALE"),
    "mate from the future": (lambda v: v._replace(heard=v.heard._replace(age_s=v.heard.age_s - 1)), "STALE"),
    "old own estimate": (lambda v: v._replace(own=v.own._replace(age_s=np.float32(1.0))), "STALE"),
    "nobody heard": (lambda v: v._replace(heard=v.heard._replace(mask=v.heard.mask & False)), "MISSING"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("batch", [False, True])
def test_bad_input_brakes_at_once_with_its_name(name: str, batch: bool) -> None:
    """Within the same decision, in both paths: the named reason, a deceleration where a velocity is known."""
    spoil, reason = BAD[name]
    safety = SafetyFilter(from_vehicle(VEHICLE, 0.02, PARAMS.arena, min_mates=3))
    view = random_view(3)
    view = view._replace(heard=view.heard._replace(mask=view.heard.mask | True))
    view, nominal = spoil(view), np.array([1.0, 1.0, 0.5, 0.2])
    if batch:
        view, nominal = stacked([view, view]), np.stack([nominal] * 2)
    with np.errstate(invalid="ignore"):
        _, result = safety(safety.init((2,) if batch else ()), view, nominal)
    command = result.command[0] if batch else result.command
    assert np.ravel(result.reason)[0] == Reason[reason] and not np.ravel(result.solved)[0]
    assert np.isfinite(command).all()
    if "velocity" not in name:
        assert command[:3] @ np.ravel(view.own.vel_m_s)[:3] < 0


def test_nan_nominal_brakes() -> None:
    """A policy that fails never reaches the motors."""
    view = random_view(3)
    _, result = SAFETY(SAFETY.init(), view, np.full(4, np.nan))
    assert result.reason == Reason.NON_FINITE and np.isfinite(result.command).all()


def test_what_the_filter_must_not_read_changes_nothing() -> None:
    """Goal, role, time, attitude, and rows that were not heard."""
    view, nominal = random_view(7), np.array([2.0, -1.0, 0.3, 0.1])
    view = view._replace(heard=view.heard._replace(mask=np.array([True, False, True])))
    _, before = SAFETY(SAFETY.init(), view, nominal)
    other = random_view(8)
    hidden = view.heard.pos_m.copy()
    hidden[1] += 1.0
    changed = view._replace(
        goal=other.goal._replace(pos_m=other.own.pos_m),
        time_s=np.float32(9.0),
        role=np.int32(2),
        own=view.own._replace(omega_rad_s=other.own.vel_m_s),
        heard=view.heard._replace(pos_m=hidden),
    )
    _, after = SAFETY(SAFETY.init(), changed, nominal)
    np.testing.assert_array_equal(before.command, after.command)


def test_head_on_the_row_stops_the_approach_by_the_hand_computed_speed() -> None:
    """A mate at rest far ahead: full acceleration passes bit by bit, for it may take effect early. Near: none."""
    view = blank_view(1)
    own = view.own._replace(pos_m=np.array([0, 0, 1.5], np.float32))

    def asked(ahead: float, accel: float, before: float = 0.0) -> float:
        pos = np.array([[ahead, 0, 1.5]], np.float32)
        heard = view.heard._replace(mask=np.array([True]), pos_m=pos, plan=Plan(pos, pos * 0, pos))
        carry = SAFETY.init()
        carry.commands[..., 0] = before
        given = view._replace(own=own, heard=heard)
        return SAFETY(carry, given, np.array([accel, 0, 0, 0]))[1].command[0]

    assert asked(2.5, 1.5) == pytest.approx(1.5)
    assert 1.5 < asked(2.5, 3.0) < 3.0
    assert asked(2.5, 3.0, before=2.0) == pytest.approx(3.0)
    assert asked(0.25, 3.0) <= 0.0


def test_campaign_without_collisions_and_the_textbook_filter_is_caught() -> None:
    """The realistic case, adversaries, N = 8: 0 collisions with margins; the textbook filter in most episodes."""
    campaign = Campaign("adversarial", 8)
    ours, textbook = (prove(campaign, VEHICLE, 0.02, 6e4, mode, seed=5) for mode in ("qp", "textbook"))
    assert ours["collisions"] == 0 and ours["min_distance_m"] > 2 * VEHICLE.body.radius_m
    assert ours["active_share"] > 0.5
    assert textbook["collision_episodes"] >= 0.5 * textbook["episodes"]


def test_swap_reaches_its_goals_behind_the_filter() -> None:
    """Liveness in a calm world: four robots trade places, all arrive; with gusts and bursts nobody touches."""
    swap = Campaign("swap", 4, seconds=20.0)
    calm = dataclasses.replace(swap, mismatch=0.3, jitter=0.0, bursts=0.0, restart_every_s=0.0)
    found = prove(calm, VEHICLE, 0.02, 4e4, "qp", seed=1)
    assert found["collisions"] == 0 and found["goal_rate"] >= 0.99
    assert prove(swap, VEHICLE, 0.02, 4e4, "qp", seed=1)["collisions"] == 0
