"""`SoccerEnv` in JAX: a brax environment, the same game as in numpy, and features that say what they read."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.env import SoccerEnv
from robomarl.domains.soccer.lab.game import advance, num_step_draws
from robomarl.domains.soccer.lab.task import WEIGHTS
from robomarl.domains.soccer.lab.views import player_views
from robomarl.lab.sim.random_bits import uniform
from robomarl.lab.sim.starts import Starts
from robomarl.lab.train.networks import entity_slices
from tests.domains.soccer.games import plain, robots_at

SCENARIO = plain()
ENV = SoccerEnv(SCENARIO)
STEPS = 12
LOW, HIGH = (jnp.asarray(limit) for limit in SCENARIO.command_limits)
RESET, STEP = jax.jit(jax.vmap(ENV.reset)), jax.jit(jax.vmap(ENV.step))


@pytest.fixture(scope="module")
def rolled() -> list:
    """Four games under random commands: (state before, action, state after) of each step."""
    state, steps = RESET(jax.random.split(jax.random.key(1), 4)), []
    for i in range(STEPS):
        action = jax.random.uniform(jax.random.key(i), (4, 4, 4), minval=LOW, maxval=HIGH)
        after = STEP(state, action)
        steps.append((state, action, after))
        state = after
    return steps


def test_shapes_and_finite_numbers(rolled: list):
    last = rolled[-1][2]
    assert last.obs.shape == (4, ENV.num_agents, ENV.observation_size)
    assert last.reward.shape == (4, ENV.num_agents)
    assert last.done.shape == (4,)
    assert {f"reward/{name}" for name in WEIGHTS} < set(last.metrics)
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(last))


def test_jax_plays_the_same_game_as_numpy(rolled: list):
    """One decision from each state, with the same draws and commands.

    A board gives back the depth at which it is first found over a millisecond: a rounding of 0.24 um is 0.24 mm/s of
    a robot, in its estimate and its messages too.
    """
    play = make_soccer(SCENARIO, "fast", 1, 0).play
    draw = jax.jit(jax.vmap(lambda words, step: uniform(words, step, 4, num_step_draws(SCENARIO))))
    for before, action, after in rolled:
        rally = before.pipeline_state
        draws = np.asarray(draw(rally.seed, rally.world.step))
        game = advance(SCENARIO, jax.device_get(rally.world), np.asarray(action), draws, play)
        expected = after.pipeline_state.world
        for (path, a), b in zip(jax.tree.leaves_with_path(game), jax.tree.leaves(expected), strict=True):
            name = jax.tree_util.keystr(path)
            thrown = name.endswith((".vx", ".vy")) and "ball" not in name
            assert np.allclose(a, b, atol=5e-4 if thrown else 1e-4), name


def test_a_goal_ends_the_episode_and_is_worth_more_than_all_else(rolled: list):
    state = rolled[0][0]
    world, one = state.pipeline_state.world, jnp.ones(4)
    places = (SCENARIO.field.length_m / 2 - 0.05, 0.0, 5.0, 0.0, 5.0, 0.0)
    ball = type(world.ball)(*(place * one for place in places))
    robots = world.robots._replace(y=world.robots.y * 0 + jnp.asarray([1.0, -1.0, 1.2, -1.2]))
    put = state.pipeline_state._replace(world=world._replace(ball=ball, robots=robots))
    after = STEP(state.replace(pipeline_state=put), jnp.zeros((4, 4, 4)))
    assert (after.done == 1).all()
    assert (after.info["truncation"] == 0).all()
    assert (after.metrics["success"] == 1).all()
    dense = sum(abs(after.metrics[f"reward/{n}"]) for n in WEIGHTS if n != "score")
    assert (after.metrics["reward/score"] > 5 * dense).all()
    assert (after.reward[:, :2] > 50).all()
    assert (after.reward[:, 2:] < -50).all()


def test_features_read_what_they_declare(rolled: list):
    """Any field of the view that a feature does not name can be changed without a trace."""
    views = player_views(SCENARIO, jax.device_get(rolled[-1][2].pipeline_state.world))
    declared = ENV.observation.reads
    plan = type(views.heard.plan)(*(part + 1.0 for part in views.heard.plan))
    changed = views._replace(
        time_s=views.time_s + 1.0,
        role=views.role + 1,
        heard=views.heard._replace(plan=plan),
        goal=views.goal._replace(quat_wxyz=-views.goal.quat_wxyz),
    )
    assert not {"time_s", "role", "heard.plan", "goal.quat_wxyz"} & declared
    before, after = (ENV.observation.observe((), v)[1] for v in (views, changed))
    assert np.array_equal(before, after)
    assert len(ENV.observation.element_names()) == ENV.observation_size == before.shape[-1]
    assert entity_slices(ENV.observation), "opponents and mates are sets, for attention"


@pytest.mark.slow
def test_behind_the_filter_ours_stop_before_an_opponent_and_theirs_do_not():
    """Both attackers start 0.5 m apart, face to face, and drive at each other."""
    env = SoccerEnv(SCENARIO, safety="qp")
    state = jax.jit(env.reset)(jax.random.key(0))
    robots = robots_at([(-0.25, 0.0, 0.0), (-2.0, 1.2, 0.0), (0.25, 0.0, np.pi), (2.0, 1.2, np.pi)])
    robots = jax.tree.map(lambda part: jnp.asarray(part[0]), robots)
    rally = state.pipeline_state
    ball = jax.tree.map(lambda part: part + 1.0, rally.world.ball)._replace(vx=0.0 * rally.world.ball.x)
    state = state.replace(pipeline_state=rally._replace(world=rally.world._replace(robots=robots, ball=ball)))
    action, step, own = jnp.zeros((4, 4)).at[jnp.array([0, 2]), 0].set(2.0), jax.jit(env.step), []
    for _ in range(25):
        state = step(state, action)
        own.append(np.asarray(state.pipeline_state.world.contacts.own_m_s))
    own = np.max(own, 0)
    assert own[2] > 0.4
    assert own[0] < 0.1


def test_some_episodes_of_training_start_with_a_set_piece():
    """The first robot 1 m from a ball at rest in their half, and nobody else anywhere near."""
    world = RESET(jax.random.split(jax.random.key(5), 400)).pipeline_state.world
    away = np.hypot(world.robots.x - world.ball.x[:, None], world.robots.y - world.ball.y[:, None])
    still = (np.hypot(world.ball.vx, world.ball.vy) == 0) & (np.asarray(world.ball.x) > 0.2)
    assert 20 < still.sum() < 70  # a tenth
    assert away[still, 0] == pytest.approx(1.0, abs=1e-5)
    assert (away[still, 1:] > 2.0).all()


def test_who_takes_a_set_piece_alone_is_the_only_one_that_moves():
    env = SoccerEnv(SCENARIO, starts=Starts(0.0, 1.0, 0.5))
    state, step = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(2), 64)), jax.jit(jax.vmap(env.step))
    for _ in range(5):
        state = step(state, jnp.broadcast_to(jnp.asarray([1.0, 0.0, 0.0, 0.0]), (64, 4, 4)))
    robots, idle = state.pipeline_state.world.robots, np.asarray(state.pipeline_state.own)
    moving = np.hypot(robots.vx, robots.vy) > 0.05
    assert 16 < idle[:, 1].sum() < 48 and (idle[:, 1:].all(1) == idle[:, 1]).all() and not idle[:, 0].any()
    np.testing.assert_array_equal(moving, ~idle)


def test_shares_of_starts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match=r"anywhere = 0.7 and set_pieces = 0.4 are more than all"):
        Starts(0.7, 0.4)
    with pytest.raises(ValueError, match=r"alone = 0.2 is a part of set_pieces = 0.1"):
        Starts(0.5, 0.1, 0.2)


def test_an_unknown_weight_is_refused():
    with pytest.raises(UserError, match="'beauty' is not a term; allowed: score, concede"):
        SoccerEnv(SCENARIO, {"beauty": 1.0})
