"""`TeamEnv` keeps the promises of a `brax.envs.Env` with a robot axis."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.spec import ActionField, ActionSpec
from robomarl.domains.flight.lab.env import TeamEnv
from robomarl.lab.sim.agents import corrected
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario

COUNT, BATCH = 3, 4


class Compiled(NamedTuple):
    env: TeamEnv
    reset: Callable[..., Any]
    step: Callable[..., Any]


@pytest.fixture(scope="module")
def one() -> Compiled:
    scenario = dataclasses.replace(load_scenario(f"goto_{COUNT}"), time_limit_s=0.1)
    env = make_env(scenario)
    assert isinstance(env, TeamEnv)
    return Compiled(env, jax.jit(env.reset), jax.jit(env.step))


@pytest.fixture(scope="module")
def batch(one: Compiled) -> Compiled:
    return Compiled(one.env, jax.jit(jax.vmap(one.env.reset)), jax.jit(jax.vmap(one.env.step)))


def still(*shape: int) -> jax.Array:
    return jnp.zeros((*shape, COUNT, 4))


def leaves(tree: Any) -> list[np.ndarray]:
    return [np.asarray(jax.random.key_data(x) if _is_key(x) else x) for x in jax.tree.leaves(tree)]


def _is_key(x: Any) -> bool:
    return jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def test_shapes(one: Compiled):
    state = one.step(one.reset(jax.random.key(0)), still())
    env = one.env
    assert (env.num_agents, env.action_size, env.backend) == (COUNT, 4, "fast")
    assert state.obs.shape == (COUNT, env.observation_size)
    assert state.reward.shape == (COUNT,)
    assert state.done.shape == ()
    assert len(env.observation.element_names()) == env.observation_size
    assert env.privileged(state).shape[0] == COUNT


def test_step_keeps_structure_and_types(one: Compiled):
    """What `lax.scan` needs of it."""
    before = one.reset(jax.random.key(0))
    after = one.step(before, still())
    assert jax.tree.structure(before) == jax.tree.structure(after)
    changed = [
        (a.shape, a.dtype, b.shape, b.dtype)
        for a, b in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True)
        if (a.shape, a.dtype) != (b.shape, b.dtype)
    ]
    assert not changed


def test_the_same_key_is_the_same_episode(one: Compiled):
    ends = []
    for key in (1, 1, 2):
        state = one.reset(jax.random.key(key))
        for _ in range(3):
            state = one.step(state, still() + 0.5)
        ends.append(leaves((state.obs, state.reward, state.pipeline_state.world)))
    assert all(np.array_equal(a, b) for a, b in zip(ends[0], ends[1], strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(ends[0], ends[2], strict=True))


def test_a_batch_is_its_members(one: Compiled, batch: Compiled):
    keys = jax.random.split(jax.random.key(3), BATCH)
    together = batch.step(batch.reset(keys), still(BATCH))
    for i in range(BATCH):
        alone = one.step(one.reset(keys[i]), still())
        assert np.asarray(together.obs[i]) == pytest.approx(np.asarray(alone.obs), abs=1e-5)
        assert np.asarray(together.reward[i]) == pytest.approx(np.asarray(alone.reward), abs=1e-4)


def test_an_episode_ends_by_time(one: Compiled):
    state, ends = one.reset(jax.random.key(0)), []
    for _ in range(5):
        state = one.step(state, still())
        ends.append((float(state.done), float(state.info["truncation"])))
    assert ends == [(0, 0)] * 4 + [(1, 1)]


def test_contact_ends_the_episode(one: Compiled):
    state = one.reset(jax.random.key(0))
    world = state.pipeline_state.world
    together = tuple(jnp.full_like(p, p[0]) for p in world.body.pos)
    world = world._replace(body=world.body._replace(pos=together))
    state = one.step(state.replace(pipeline_state=state.pipeline_state._replace(world=world)), still())
    assert (float(state.done), float(state.info["truncation"])) == (1, 0)
    assert float(state.metrics["contact"]) == 1
    assert float(state.metrics["reward/contact"]) < 0


def test_reward_is_the_sum_of_its_terms(one: Compiled):
    state = one.step(one.reset(jax.random.key(5)), still() + 1.0)
    terms = [float(v) for k, v in state.metrics.items() if k.startswith("reward/")]
    assert float(state.reward.mean()) == pytest.approx(sum(terms), abs=1e-5)
    assert set(one.env.weights) == {k[7:] for k in state.metrics if k.startswith("reward/")}


def test_each_robot_sees_its_own_goal(one: Compiled):
    state = one.reset(jax.random.key(7))
    world = state.pipeline_state.world
    at = one.env.observation.element_names().index("goal_error.x")
    error = np.asarray(world.goal_m - world.measured.pos_m)
    assert np.asarray(state.obs)[:, at : at + 3] == pytest.approx(error, abs=1e-5)


def test_an_unknown_reward_term_is_named():
    with pytest.raises(UserError, match="Reward weight 'beauty' is not a term; allowed: progress"):
        make_env(load_scenario("swap_2"), weights={"beauty": 1.0})


def test_an_unknown_engine_is_named():
    with pytest.raises(UserError, match="'mujoco' is not a JAX engine; allowed: fast, mjx"):
        make_env(load_scenario("swap_2"), sim="mujoco")


def test_filter_in_the_environment_keeps_robots_apart_that_fly_at_each_other() -> None:
    """Two robots at full acceleration towards the middle: they meet without the filter, and don't with it."""
    scenario = load_scenario("goto_2")
    least = {}
    for safety in ("off", "qp"):
        env = make_env(scenario, safety=safety)
        assert isinstance(env, TeamEnv)
        state = jax.jit(env.reset)(jax.random.key(3))

        def rush(state: Any, _: None, env: TeamEnv = env) -> tuple[Any, jax.Array]:
            pos = jnp.stack(state.pipeline_state.world.body.pos, -1)
            inward = -3.0 * pos[:, :2] / jnp.linalg.norm(pos[:, :2], axis=-1, keepdims=True)
            state = env.step(state, jnp.concatenate([inward, jnp.zeros((2, 2))], -1))
            return state, state.pipeline_state.world.closest_m.min()

        least[safety] = float(jax.jit(lambda s, f=rush: jax.lax.scan(f, s, None, length=100)[1].min())(state))
    assert least["off"] < 2 * scenario.vehicle_config.body.radius_m
    assert least["qp"] > scenario.vehicle_config.safety.separation_m


def test_what_a_filter_changes_counts_in_halves_of_the_range():
    """Ranges of 2 and 8, changes of 1 and 2: (1 / 1)^2 + (2 / 4)^2; a robot whose action passes counts 0."""
    spec = ActionSpec((ActionField("a", "-", "-", -1.0, 1.0), ActionField("b", "-", "-", 0.0, 8.0)))
    asked, sent = jnp.array([[0.0, 1.0], [0.5, 2.0]]), jnp.array([[1.0, 3.0], [0.5, 2.0]])
    np.testing.assert_allclose(corrected(spec, asked, sent), [1.25, 0.0])


def test_only_who_flies_behind_the_filter_is_paid_for_what_it_changes():
    scenario, weights = load_scenario("goto_2"), {"corrected": -2.0}
    assert make_env(scenario, weights=weights, safety="qp").weights["corrected"] == -2
    with pytest.raises(UserError, match="corrected"):
        make_env(scenario, weights=weights)
