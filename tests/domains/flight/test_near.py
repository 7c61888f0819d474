"""Large teams: neighbours by cells are those of all pairs, and so is a decision."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.training.teams import program, spread
from robomarl.domains.flight.lab.engines.fast import make_fast
from robomarl.domains.flight.lab.engines.near import advance_near, is_large, rows, with_near
from robomarl.domains.flight.lab.env import TeamEnv
from robomarl.domains.flight.lab.start import ROBOT_DRAWS, TEAM_DRAWS, start_world
from robomarl.domains.flight.lab.step import advance, num_step_draws
from robomarl.domains.flight.lab.tasks import swap
from robomarl.domains.flight.lab.views import local_views
from robomarl.lab.sim.agents import MISSED
from robomarl.lab.sim.engines.cells import LOOKED_AT, nearest
from robomarl.lab.sim.scenario import load_scenario

COUNT = 36


def all_pairs(pos: np.ndarray, reach_m: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest `count` of each robot [N, 3] within reach, and squares of their distances."""
    gap = pos[:, None] - pos[None]
    square = gap[..., 0] ** 2 + gap[..., 1] ** 2 + gap[..., 2] ** 2
    np.fill_diagonal(square, np.inf)
    square = np.where(square <= np.float32(reach_m**2), square, np.inf)
    order = np.argsort(square, axis=1, kind="stable")[:, :count]
    least = np.take_along_axis(square, order, 1)
    return np.where(least < np.inf, order, np.arange(len(pos))[:, None]), least


@pytest.mark.parametrize("count", [33, 300])
def test_neighbours_are_those_of_all_pairs_where_no_cell_overflows(count: int) -> None:
    """Thin and dense teams, far from the origin too; where robots were left out, that is counted."""
    find, random, found = jax.jit(lambda p: nearest((p[0], p[1], p[2]), 1.2, 3)), np.random.default_rng(count), []
    for spacing, offset in ((3.0, 0.0), (1.5, -4000.0), (1.0, 0.0), (0.5, 100.0)):
        side = spacing * count**0.5
        pos = (random.uniform(0, 1, (count, 3)) * (side, side, 0.5) + (offset, offset, 0)).astype(np.float32)
        mine = find(pos.T)
        index, square = all_pairs(pos, 1.2, 3)
        whole = np.asarray(mine.missed) == 0
        np.testing.assert_array_equal(np.asarray(mine.index)[whole], index[whole])
        np.testing.assert_allclose(np.asarray(mine.square)[whole], square[whole], rtol=1e-5)
        found.append(whole.mean())
    assert found[0] == 1 and found[-1] < 0.5


def test_robots_that_are_left_out_are_counted() -> None:
    """All in one square: each looks at as many as it can, itself included."""
    x = jnp.arange(40) * 0.01
    assert set(np.asarray(nearest((x, x, x), 1.2, 3).missed)) == {40 - LOOKED_AT}


def test_a_decision_is_that_of_a_team_in_which_all_are_compared() -> None:
    """Bodies in every bit; distances, messages and rewards of mates within reach; a lost message keeps the last one."""
    scenario = replace(spread(COUNT), randomize=replace(spread(COUNT).randomize, packet_loss=(0.0, 0.0)))
    random, integrate = np.random.default_rng(0), make_fast(scenario)
    robot, team = (jnp.asarray(random.random(s), jnp.float32) for s in ((COUNT, ROBOT_DRAWS), (TEAM_DRAWS,)))
    pairs = jax.jit(lambda *x: start_world(scenario, *x))(robot, team, jnp.zeros(0))
    near = jax.jit(lambda world: with_near(scenario, world))(pairs)
    steps = (
        jax.jit(lambda world, command, draws: advance(scenario, world, command, draws, integrate)),
        jax.jit(lambda world, command, draws: advance_near(scenario, world, command, draws, integrate)),
    )
    for _ in range(4):
        command = jnp.asarray(random.normal(size=(COUNT, 4)), jnp.float32)
        draws = jnp.asarray(random.random((COUNT, num_step_draws(scenario))), jnp.float32)
        pairs, near = steps[0](pairs, command, draws), steps[1](near, command, draws[:, : 9 + rows(scenario)])
    assert near.near is not None and not np.asarray(near.missed).any()
    for mine, its in zip(jax.tree.leaves(near.body), jax.tree.leaves(pairs.body), strict=True):
        np.testing.assert_array_equal(mine, its)
    there = np.isfinite(np.asarray(near.closest_m))
    assert there.mean() > 0.2
    np.testing.assert_allclose(np.asarray(near.closest_m)[there], np.asarray(pairs.closest_m)[there], rtol=1e-6)
    assert np.asarray(pairs.closest_m)[~there].min() > 1.0
    close = jax.jit(lambda world: swap.intrusion(scenario, world))
    np.testing.assert_allclose(close(near), close(pairs), atol=1e-6)
    place = (np.asarray(near.near) - np.arange(COUNT)[:, None] - 1) % COUNT
    known = np.asarray(near.air.age_s) < 1
    row = np.minimum(place, COUNT - 2)
    heard = np.take_along_axis(np.asarray(pairs.air.pos_m), row[..., None], 1)
    np.testing.assert_array_equal(np.asarray(near.air.pos_m)[known], heard[known])
    assert (local_views(scenario, near).heard.mask == known).all()
    deaf = near._replace(hidden=near.hidden._replace(packet_loss=near.hidden.packet_loss + 2))
    later = steps[1](deaf, command, draws[:, : 9 + rows(scenario)])
    same = known & (np.asarray(later.near) == np.asarray(near.near))
    assert same.any()
    np.testing.assert_array_equal(np.asarray(later.air.pos_m)[same], np.asarray(near.air.pos_m)[same])
    np.testing.assert_allclose(np.asarray(later.air.age_s)[same], np.asarray(near.air.age_s)[same] + 0.02, rtol=1e-5)


def test_teams_that_ship_are_compared_in_pairs() -> None:
    """So do large ones behind the filter, which needs every mate; large ones without it say how many were left out."""
    assert not is_large(load_scenario("swap_16"), "off") and not is_large(spread(COUNT), "qp")
    env = TeamEnv(spread(COUNT))
    state = jax.eval_shape(
        env.step, *jax.eval_shape(lambda k: (env.reset(k), jnp.zeros((COUNT, 4))), jax.random.key(0))
    )
    assert MISSED in state.metrics and state.obs.shape == (COUNT, env.observation_size)
    assert jax.eval_shape(env.privileged, state).shape[0] == COUNT


@pytest.mark.slow
def test_memory_grows_with_the_number_of_robots() -> None:
    """Four times the robots in one team take no more than four times the memory, and a little."""
    few, many = (program(count, 1)[2] / count for count in (64, 256))
    assert many < 1.1 * few
