"""PettingZoo's ParallelEnv (https://pettingzoo.farama.org/api/parallel): dicts by robot, one team at a time."""

import jax
import numpy as np
from gymnasium.spaces import Box  # pyright: ignore[reportMissingImports]
from pettingzoo import ParallelEnv  # pyright: ignore[reportMissingImports]

from robomarl.core.types import Array
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.interfaces import robot_names
from robomarl.lab.sim.wrappers import UnitActions, check_unit

Values = dict[str, Array]
"""Values by robot name."""


class PettingZooTeam(ParallelEnv):
    """A team as a `ParallelEnv`."""

    metadata = {"name": "robomarl", "render_modes": [], "is_parallelizable": True}

    def __init__(self, env: AgentsEnv, seed: int = 0) -> None:
        """Wrap an environment.

        Args:
            env: `make_env` makes one of a scenario.
            seed: of the episodes until `reset` is given another.
        """
        self.metadata = {**self.metadata, "name": env.scenario.name}
        self.possible_agents = robot_names(env.num_agents)
        self.agents: list[str] = []
        self.render_mode = None
        unit, self._spec = UnitActions(env), env.action
        self._reset, self._step = jax.jit(env.reset), jax.jit(unit.step)
        self._key, self._state = jax.random.key(seed), None
        wide = Box(-np.inf, np.inf, (env.observation_size,), np.float32)
        self._observations = {name: Box(wide.low, wide.high, dtype=np.float32) for name in self.possible_agents}
        self._actions = {name: Box(-1.0, 1.0, (env.action_size,), np.float32) for name in self.possible_agents}

    def observation_space(self, agent: str) -> Box:
        """Return a `gymnasium.spaces.Box`, one object for all calls."""
        return self._observations[agent]

    def action_space(self, agent: str) -> Box:
        """Return a `gymnasium.spaces.Box`, one object for all calls."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: Values | None = None) -> tuple[Values, Values]:
        """Start a new episode; equal seeds start equal episodes. There are no options."""
        if seed is not None:
            self._key = jax.random.key(seed)
        self._key, key = jax.random.split(self._key)
        self._state, self.agents = self._reset(key), list(self.possible_agents)
        return self._rows(self._state.obs), {name: {} for name in self.agents}

    def step(self, actions: Values) -> tuple[Values, Values, Values, Values, Values]:
        """One decision of every robot: observations, rewards, terminations, truncations, infos.

        Raises:
            RuntimeError: the episode is over; `reset` begins another.
            ValueError: an action is not in [-1, 1], or is in physical units; see `check_unit`.
        """
        if self._state is None or not self.agents:
            raise RuntimeError("The episode is over: call reset.")
        for name in self.possible_agents:
            check_unit(self._spec, actions[name])
        action = np.stack([np.asarray(actions[name], np.float32) for name in self.possible_agents])
        self._state = state = self._step(self._state, action)
        done, cut = bool(state.done), bool(state.info["truncation"])
        infos = {name: {"success": float(state.metrics["success"])} for name in self.agents}
        terminated, truncated = (dict.fromkeys(self.agents, flag) for flag in (done and not cut, cut))
        self.agents = [] if done else self.agents
        return self._rows(state.obs), self._rows(state.reward), terminated, truncated, infos

    def _rows(self, array: Array) -> Values:
        return dict(zip(self.possible_agents, np.asarray(array), strict=True))
