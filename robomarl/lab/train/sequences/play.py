"""Sequences of actions: decisions at a lower rate than actions.

A decision gives the next H actions of a robot. They are played one by one at the rate of the
scenario, each through the rules and the filter, and only then does the policy look again. On a
robot a sequence is a memory of the policy (`pending`: actions that are still to come; `left`: their
number), so that nothing else there depends on sequences: a memory that starts anew, after a gap or
a hold, is a new decision. In training it is an environment in which a step is H steps of the
wrapped one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from brax.envs.base import State, Wrapper

from robomarl.core.bundle.contract import LEFT, PENDING
from robomarl.core.config import Count
from robomarl.core.spec import ActionSpec
from robomarl.core.types import Array
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.trees import Tree

Carry = tuple[jax.Array, ...]
PolicyFn = Callable[[Carry, jax.Array], tuple[Carry, jax.Array]]


@dataclass(frozen=True)
class SequenceConfig:
    """Composition of a decision."""

    actions: Count = 1
    """Actions of a decision, played at the scenario's `policy_hz`; decisions are rarer by this factor, and
    agent-steps count decisions.
    """
    held: bool = False
    """True if a decision is one action, held for all its periods, instead of one action after another."""

    @property
    def outputs(self) -> int:
        """Actions that the network says."""
        return 1 if self.held else self.actions

    def played(self, decision: Array) -> Array:
        """[..., outputs A] -> [..., H, A]: the actions of a decision, in their order."""
        rows = decision.reshape(*decision.shape[:-1], self.outputs, -1)
        return jnp.broadcast_to(rows, (*rows.shape[:-2], self.actions, rows.shape[-1]))

    def said(self, actions: Array) -> Array:
        """[..., H, A] -> [..., outputs A]: the decision nearest to actions that were wanted, in the squared error."""
        rows = actions.mean(-2, keepdims=True) if self.held else actions
        return rows.reshape(*rows.shape[:-2], -1)

    @property
    def memory_names(self) -> tuple[str, ...]:
        """Return the names of the arrays of `init_memory`."""
        return (PENDING, LEFT) if self.actions > 1 else ()

    def init_memory(self, size: int, batch: tuple[int, ...] = ()) -> Carry:
        """Return the memory before the first action of `size` elements: nothing is pending, which asks for a
        decision.
        """
        if self.actions == 1:
            return ()
        return jnp.zeros((*batch, self.actions - 1, size)), jnp.zeros((*batch, 1))


def playing(config: SequenceConfig, decide: PolicyFn) -> PolicyFn:
    """Return the function for each action, (memory and carry, obs) -> (memory and carry, action [..., A]).

    Args:
        config: number of actions of a decision; with one action the result is `decide` itself.
        decide: (carry, obs [..., O]) -> (carry, decision [..., outputs A]). Its decision and its next
            carry count only if no action is left.
    """
    if config.actions == 1:
        return decide

    def play(carry: Carry, obs: jax.Array) -> tuple[Carry, jax.Array]:
        pending, left, *own = carry
        after, decision = decide(tuple(own), obs)
        rows = config.played(decision)
        none_left: Array = left < 0.5
        moved = jnp.concatenate([pending[..., 1:, :], jnp.zeros_like(pending[..., :1, :])], -2)
        action: Array = jnp.where(none_left, rows[..., 0, :], pending[..., 0, :])
        kept: tuple[Array, ...] = (
            jnp.where(none_left[..., None], rows[..., 1:, :], moved),
            jnp.where(none_left, float(config.actions - 1), left - 1),
            *(_pick(none_left, new, old) for new, old in zip(after, own, strict=True)),
        )
        return kept, action

    return play


def _pick(which: jax.Array, new: jax.Array, old: jax.Array) -> jax.Array:
    """Rows of `new` [..., *S] where `which` [..., 1], else of `old`."""
    return jnp.where(which.reshape(*which.shape[:-1], *[1] * (new.ndim - which.ndim + 1)), new, old)


class SequenceEnv(Wrapper):
    """`AgentsEnv` in which a step is a decision: H actions [N, outputs A] and their results.

    The observation's memory goes on at the rate of actions. Rewards count less the later they come, and
    rewards after an episode's end do not count: the state stays there.
    """

    env: AgentsEnv

    def __init__(self, env: AgentsEnv, config: SequenceConfig, value_horizon_s: float = math.inf) -> None:
        """Wrap an environment into decisions of several actions.

        Args:
            env: environment with one step per action.
            config: number of actions of a decision.
            value_horizon_s: the recipe's: later rewards count exp(-time / this).
        """
        super().__init__(env)
        self._config = config
        self.action = ActionSpec(env.action.fields * config.outputs)
        self._weight = jnp.exp(-env.decision_s / value_horizon_s * jnp.arange(config.actions))

    @property
    def action_size(self) -> int:
        """Length of one robot's decision."""
        return self.action.size

    @property
    def decision_s(self) -> float:
        """Return the time [s] between two decisions."""
        return self.env.decision_s * self._config.actions

    def reset(self, rng: jax.Array, *scenario: Scenario) -> State:
        """Reset the wrapped environment."""
        return self.env.reset(rng, *scenario)

    def advance(self, world: Tree, decision: jax.Array, draws: jax.Array) -> Tree:
        """Return the world one decision later; the draws [N, `num_draws`] are used for each action."""
        step = partial(self.env.advance, draws=draws)
        rows = jnp.moveaxis(self._config.played(decision), -2, 0)
        return jax.lax.scan(lambda now, action: (step(now, action), None), world, rows)[0]

    def step(self, state: State, action: jax.Array) -> State:
        """Take one decision of all robots; metrics `reward/` are sums as the reward is, all further metrics those of
        the end.
        """
        rows = jnp.moveaxis(self._config.played(action), -2, 0)
        after, (reward, terms) = jax.lax.scan(self._step, state, (rows, self._weight))
        sums = {name: value.sum(0) for name, value in terms.items()}
        return after.replace(reward=reward.sum(0), metrics={**after.metrics, **sums})  # type: ignore[attr-defined]

    def _step(self, state: State, row: tuple[jax.Array, jax.Array]) -> tuple[State, tuple]:
        action, weight = row
        ended = state.done > 0
        after = jax.tree.map(lambda old, new: jnp.where(ended, old, new), state, self.env.step(state, action))
        weight = jnp.where(ended, 0.0, weight)
        terms = {name: weight * value for name, value in after.metrics.items() if name.startswith("reward/")}
        return after, (weight * after.reward, terms)
