"""Environments of other libraries take [-1, 1], and a bundle answers in physical units: they are not mixed up."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.bundle.runtime import load_policy
from robomarl.core.types import PhysicalAction
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sim.wrappers import FlattenAgents, UnitActions


@pytest.fixture(scope="module")
def policy() -> Any:
    return load_policy("swap_4")


@pytest.fixture(scope="module")
def env() -> Any:
    return make_env(load_scenario("swap_4"))


def physical(policy: Any, obs: Any) -> PhysicalAction:
    """What the bundle commands, [N, A], all of it within [-1, 1] as a number: only the type can tell."""
    _, action = policy(policy.init(np.shape(obs)[:-1]), np.asarray(obs))
    return action * 1e-3


def takers(env: Any) -> list[tuple[str, Any]]:
    """(name, a function of an action [4, A]) of every environment that takes [-1, 1]."""
    unit, flat, key = UnitActions(env), FlattenAgents(env), jax.random.key(0)
    found: list[tuple[str, Any]] = [
        ("UnitActions", lambda action: unit.step(env.reset(key), action)),
        ("FlattenAgents", lambda action: flat.step(flat.reset(jax.random.split(key, 1)), action)),
    ]
    from robomarl.lab.sim.interfaces import robot_names

    names = robot_names(4)
    try:
        from robomarl.lab.sim.interfaces.parallel_env import PettingZooTeam

        zoo = PettingZooTeam(env)
        zoo.reset(seed=0)
        found.append(("PettingZooTeam", lambda action: zoo.step(dict(zip(names, action, strict=True)))))
    except ImportError:
        pass
    try:
        from robomarl.lab.sim.interfaces.multi_agent_env import JaxMarlTeam

        team = JaxMarlTeam(env)
        _, state = team.reset(key)
        for name in ("step", "step_env"):
            step = getattr(team, name)
            found.append((name, lambda a, step=step: step(key, state, dict(zip(names, a, strict=True)))))
    except ImportError:
        pass
    return found


def test_a_bundles_answer_is_refused_by_its_type(policy: Any, env: Any):
    action = physical(policy, env.reset(jax.random.key(0)).obs)
    assert type(action) is PhysicalAction and np.abs(action).max() < 1
    for name, take in takers(env):
        with pytest.raises(ValueError, match=r"is in physical units.*policy.action.to_unit\(action\) makes it"):
            take(action)
            pytest.fail(f"{name} took it")


@pytest.mark.parametrize("bad", [1.5, -2.8, np.nan, np.inf])
def test_numbers_outside_are_refused_by_name(bad: float, env: Any):
    action = np.zeros((4, 4), np.float32)
    action[2, 1] = bad
    for name, take in takers(env):
        with pytest.raises(ValueError, match=r"acceleration.y of the action is .*takes \[-1, 1\]"):
            take(action)
            pytest.fail(f"{name} took it")


def test_another_length_is_refused(env: Any):
    with pytest.raises(ValueError, match=r"shape \(4, 3\); its last axis must be 4"):
        UnitActions(env).step(env.reset(jax.random.key(0)), jnp.zeros((4, 3)))


def test_the_mend_moves_the_team_as_the_command_does(policy: Any, env: Any):
    state = env.reset(jax.random.key(0))
    _, action = policy(policy.init((4,)), np.asarray(state.obs))
    unit = policy.action.to_unit(action)
    assert type(unit) is np.ndarray and np.abs(unit).max() <= 1
    np.testing.assert_allclose(policy.action.from_unit(unit), action, atol=1e-6)
    one, other = env.step(state, jnp.asarray(action)), UnitActions(env).step(state, jnp.asarray(unit))
    np.testing.assert_allclose(np.asarray(one.obs), np.asarray(other.obs), atol=1e-6)
    for name, take in takers(env):
        assert take(unit) is not None, name


def test_a_compiled_trainer_is_not_hindered(env: Any):
    """Inside a compiled function values are not known: they are cut off there, as before."""
    step = jax.jit(UnitActions(env).step)
    state = env.reset(jax.random.key(0))
    one, other = (step(state, jnp.full((4, 4), value)).obs for value in (1.0, 3.0))
    np.testing.assert_allclose(np.asarray(one), np.asarray(other))


def test_the_answer_of_a_bundle_is_an_array_like_any_other(policy: Any):
    obs = np.zeros(policy.observation.size, np.float32)
    _, action = policy(policy.init(), obs)
    assert isinstance(action, np.ndarray) and np.isfinite(action + 1).all()
    assert jnp.asarray(action).shape == action.shape and action.tolist() == np.asarray(action).tolist()
