"""Wrappers around `AgentsEnv`, one idea each."""

import jax
import jax.numpy as jnp
import numpy as np
from brax.envs.base import State, Wrapper
from brax.envs.wrappers.training import AutoResetWrapper
from jax.core import Tracer

from robomarl.core.spec import ActionSpec
from robomarl.core.types import Array, PhysicalAction
from robomarl.lab.sim.agents import AgentsEnv

ROUNDING = 1e-4
"""Excess over 1 that is tolerated, for trainers that squash in single precision."""


def check_unit(spec: ActionSpec, action: Array) -> None:
    """Check an action [..., A]; inside a compiled function only its shape is known, and values are cut off there.

    Raises:
        ValueError: it is in physical units, has another length, or a value that is outside [-1, 1] or no number.
    """
    mend = "policy.action.to_unit(action) makes it of what a bundle or run commands"
    if isinstance(action, PhysicalAction):
        raise ValueError(f"the action is in physical units, and this environment takes [-1, 1]: {mend}.")
    if np.shape(action)[-1:] != (spec.size,):
        raise ValueError(f"the action has shape {np.shape(action)}; its last axis must be {spec.size}.")
    if isinstance(action, Tracer):
        return
    values = np.asarray(action).reshape(-1, spec.size)
    bad = np.argwhere(~(np.abs(values) <= 1 + ROUNDING))
    if len(bad):
        row, element = bad[0]
        name, value = spec.fields[element].name, values[row, element]
        raise ValueError(f"{name} of the action is {value:g}, and this environment takes [-1, 1]: {mend}.")


class UnitActions(Wrapper):
    """Actions in [-1, 1], the range of a squashed Gaussian, instead of physical units."""

    def step(self, state: State, action: jax.Array) -> State:
        """Take actions [N, A] in [-1, 1]; 0 is the middle of each element's range. `check_unit` lists the rejected
        ones.
        """
        spec = self.env.action  # type: ignore[attr-defined]
        check_unit(spec, action)
        return self.env.step(state, spec.from_unit(jnp.clip(action, -1.0, 1.0)))


class FlattenAgents(Wrapper):
    """Robots as environments, so that single-agent trainers such as Brax's PPO can train a shared policy.

    `reset` takes B keys, one for each team, and the folded state has B N rows in observation, reward and done.
    A team that ended starts anew by itself, as Brax's trainers expect. `done` and `truncation` of a team hold
    for each of its robots. Hand it over as `wrap_env_fn=flatten_agents`.
    """

    def __init__(self, env: AgentsEnv) -> None:
        """Vectorize an `AgentsEnv`, with actions in [-1, 1], and fold its robots into the batch."""
        super().__init__(env)
        teams = AutoResetWrapper(UnitActions(env))
        self._num = env.num_agents
        self._reset, self._step = jax.vmap(teams.reset), jax.vmap(teams.step)

    def reset(self, rng: jax.Array) -> State:
        """B keys -> folded state."""
        state = self._fold(self._reset(rng))
        zero = jnp.zeros_like(state.done)
        info = {"episode_metrics": {"sum_reward": zero, "length": zero}, "episode_done": zero}
        return state.replace(info={**state.info, **info})  # type: ignore[attr-defined]

    def step(self, state: State, action: jax.Array) -> State:
        """[B N, A] actions -> folded state."""
        check_unit(self.env.action, action)  # type: ignore[attr-defined]
        teams: State = state.pipeline_state  # type: ignore[assignment]
        after = self._fold(self._step(teams, action.reshape(-1, self._num, action.shape[-1])))
        begun = 1 - state.info["episode_done"]
        sums = {"sum_reward": after.reward, "length": jnp.ones_like(after.done)}
        totals = {name: state.info["episode_metrics"][name] * begun + value for name, value in sums.items()}
        info = {"episode_metrics": totals, "episode_done": after.done}
        return after.replace(info={**state.info, **after.info, **info})  # type: ignore[attr-defined]

    def _fold(self, teams: State) -> State:
        def per_robot(x: jax.Array) -> jax.Array:
            return x.reshape(-1, *x.shape[2:])

        def per_team(x: jax.Array) -> jax.Array:
            return jnp.repeat(x, self._num, axis=0)

        info = {name: per_team(teams.info[name]) for name in ("truncation", "steps")}
        metrics = {name: per_team(value) for name, value in teams.metrics.items()}
        return State(teams, per_robot(teams.obs), per_robot(teams.reward), per_team(teams.done), metrics, info)  # type: ignore[arg-type]


def flatten_agents(env: AgentsEnv, episode_length: int = 0, action_repeat: int = 1, **unused: object) -> FlattenAgents:
    """`FlattenAgents` with the arguments of Brax's `wrap_env_fn`; the episode's length is the scenario's own."""
    return FlattenAgents(env)
