"""`AgentsEnv`: what team environments and games share as a `brax.envs.Env` with a leading robot axis."""

import contextlib
import io
from typing import Any

import jax
import jax.numpy as jnp

from robomarl.config import UserError
from robomarl.spec import ActionSpec, ObservationSpec
from robomarl.view import LocalView

with contextlib.redirect_stdout(io.StringIO()):  # it prints that an optional backend of MJX is not installed
    from brax.envs.base import Env, State


class AgentsEnv(Env):
    """The part of an environment that does not depend on what is simulated."""

    observation: ObservationSpec
    action: ActionSpec
    weights: dict[str, float]
    """Reward weights by name."""
    scenario: Any
    """What is simulated."""

    @property
    def num_agents(self) -> int:
        """Robots that act: rows of observation, action and reward."""
        raise NotImplementedError

    @property
    def num_draws(self) -> int:
        """Random numbers of each robot and decision."""
        raise NotImplementedError

    def advance(self, world: Any, command: jax.Array, draws: jax.Array) -> Any:
        """The world one decision later, without filters; draws are uniform, [N, `num_draws`]."""
        raise NotImplementedError

    def views(self, world: Any) -> LocalView:
        """What every robot may know, [N, ...]."""
        raise NotImplementedError

    def privileged(self, state: State) -> jax.Array:
        """[N, P] what a central critic may see."""
        raise NotImplementedError

    def team_privileged(self, state: State) -> jax.Array:
        """[P] what a critic of the whole team may see, robots in their order; by default all that `privileged` says."""
        return self.privileged(state).reshape(-1)

    @property
    def observation_size(self) -> int:
        """Length of one robot's observation."""
        return self.observation.size

    @property
    def action_size(self) -> int:
        """Length of one robot's action."""
        return self.action.size

    def first(self, simulation: Any, obs: jax.Array) -> State:
        """The state at the start of an episode; `obs` is [N, O]."""
        zero = jnp.zeros(())
        names = [*(f"reward/{name}" for name in self.weights), "success", "contact"]
        info = {"truncation": zero, "steps": zero}
        return State(simulation, obs, jnp.zeros(len(obs)), zero, dict.fromkeys(names, zero), info)  # type: ignore[arg-type]


def merge_weights(own: dict[str, float], replaced: dict[str, float] | None) -> dict[str, float]:
    """A task's reward weights with those that the user replaces.

    Raises:
        UserError: a reward term of that name does not exist.
    """
    unknown = set(replaced or {}) - set(own)
    if unknown:
        raise UserError(f"Reward weight {min(unknown)!r} is not a term; allowed: {', '.join(own)}.")
    return {**own, **(replaced or {})}
