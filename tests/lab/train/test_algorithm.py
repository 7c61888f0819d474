"""Ways to learn have one interface: the same state in and out, the same pieces where a number stops being one."""

from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
import pytest

from robomarl.core.config import UserError
from robomarl.domains.soccer.lab.env import SoccerEnv
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import LEARNERS, init_state, make_update, may_share
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.imitation import blank_state
from robomarl.lab.train.run.nan_guard import again
from tests.domains.soccer.games import plain


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["shac", "reppo"])
def test_an_update_takes_and_gives_a_state_of_the_same_kind(algorithm: Literal["shac", "reppo"]) -> None:
    """Shapes and types of every leaf: it can be saved, resumed and compiled once. So is what imitation makes."""
    env = make_env(load_scenario("swap_4"))
    config = TrainConfig(
        algorithm=algorithm, change_cost=1.0, num_envs=4, unroll=2, minibatches=2, network=NetworkConfig((4,), (4,))
    )
    before = jax.eval_shape(partial(init_state, config, env), jax.random.key(0))
    after, metrics = jax.eval_shape(make_update(config, env), before)
    for state in (after, blank_state(config, env, 0)):
        assert jax.tree.structure(before) == jax.tree.structure(state)
        pairs = list(zip(jax.tree.leaves(before), jax.tree.leaves(state), strict=True))
        assert all((jnp.shape(a), a.dtype) == (jnp.shape(b), jnp.result_type(b)) for a, b in pairs)
    assert {"success", "contact", "loss/policy", "loss/value", "explained_variance", "learning_rate"} <= set(metrics)
    pieces = jax.eval_shape(partial(again, config, env), before)
    assert {"rollout.obs", "rollout.reward"} <= set(pieces)


@pytest.mark.parametrize(
    ("scenario", "recipe", "shares"),
    [
        ("swap_4", {}, True),
        ("swap_4", {"share_results": False}, False),
        ("swap_4", {"algorithm": "shac"}, False),
        ("lift_3", {"algorithm": "shac", "share_results": True}, True),
        ("soccer_2v2", {"share_results": True}, False),
    ],
)
def test_results_are_shared_where_xla_compiles_that_or_the_recipe_says_so(
    scenario: str, recipe: dict, shares: bool
) -> None:
    assert may_share(TrainConfig(**recipe), load_scenario(scenario)) is shares


def test_what_is_no_learner_and_what_learns_no_games_says_so() -> None:
    """A search has no updates; games are learned by MAPPO."""
    with pytest.raises(UserError, match=f"'search' has no updates here; make it one of {', '.join(LEARNERS)}"):
        make_update(TrainConfig(algorithm="search"), make_env(load_scenario("swap_4")))
    with pytest.raises(UserError, match="'shac' does not learn games, and .* is one; make it mappo"):
        make_update(TrainConfig(algorithm="shac"), SoccerEnv(plain()))
