"""`AgentsEnv`: what team environments and games share as a `brax.envs.Env` with a leading robot axis."""

import contextlib
import io
from typing import Any

import jax
import jax.numpy as jnp

from robomarl.config import UserError
from robomarl.spec import ActionSpec, ObservationSpec

with contextlib.redirect_stdout(io.StringIO()):  # it prints that an optional backend of MJX is not installed
    from brax.envs.base import Env, State


class AgentsEnv(Env):
    """The part of an environment that does not depend on what is simulated."""

    observation: ObservationSpec
    action: ActionSpec
    weights: dict[str, float]
    """Reward weights by name."""

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
