"""JaxMARL's interface (https://github.com/FLAIROX/JaxMARL): dicts by robot, pure functions, reset when done."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxmarl.environments.multi_agent_env import MultiAgentEnv  # pyright: ignore[reportMissingImports]
from jaxmarl.environments.spaces import Box  # pyright: ignore[reportMissingImports]

from robomarl.lab.sim.agents import AgentsEnv, State
from robomarl.lab.sim.interfaces import robot_names
from robomarl.lab.sim.wrappers import UnitActions, check_unit

ByRobot = dict[str, jax.Array]


class JaxMarlTeam(MultiAgentEnv):
    """A team as a `MultiAgentEnv`; its state is that of `AgentsEnv`."""

    def __init__(self, env: AgentsEnv) -> None:
        """Wrap an environment; `make_env` makes one of a scenario."""
        super().__init__(num_agents=env.num_agents)
        self._env = UnitActions(env)
        self._scenario = env.scenario
        self.agents = robot_names(env.num_agents)
        self.observation_spaces = {name: Box(-jnp.inf, jnp.inf, (env.observation_size,)) for name in self.agents}
        self.action_spaces = {name: Box(-1.0, 1.0, (env.action_size,)) for name in self.agents}

    @property
    def name(self) -> str:
        """The scenario's."""
        return self._scenario.name

    @property
    def agent_classes(self) -> dict[str, list[str]]:
        """All are of one kind."""
        return {"robot": list(self.agents)}

    @partial(jax.jit, static_argnums=0)
    def reset(self, key: jax.Array) -> tuple[ByRobot, State]:
        """A new episode."""
        state = self._env.reset(key)
        return self.get_obs(state), state

    def step(
        self, key: jax.Array, state: State, actions: ByRobot, reset_state: State | None = None
    ) -> tuple[ByRobot, State, ByRobot, ByRobot, dict[str, jax.Array]]:
        """Take a step as the base class does, which compiles it; before that, raise `ValueError` as `check_unit`
        does.
        """
        self._check(actions)
        return super().step(key, state, actions, reset_state)

    def step_env(
        self, key: jax.Array, state: State, actions: ByRobot
    ) -> tuple[ByRobot, State, ByRobot, ByRobot, dict[str, jax.Array]]:
        """One decision, without the reset that `step` adds; randomness is in the state, and `key` is not used.

        Returns:
            Observations, state, rewards, dones with "__all__", and infos: `success` and `contact` of each robot, as
            shares of the team, and `truncation` where time ended the episode; [N] each.

        Raises:
            ValueError: an action is not in [-1, 1], or is in physical units; see `check_unit`.
        """
        self._check(actions)
        return self._advanced(state, actions)

    @partial(jax.jit, static_argnums=0)
    def _advanced(
        self, state: State, actions: ByRobot
    ) -> tuple[ByRobot, State, ByRobot, ByRobot, dict[str, jax.Array]]:
        after = self._env.step(state, jnp.stack([actions[name] for name in self.agents]))
        rewards = {name: after.reward[i] for i, name in enumerate(self.agents)}
        dones = dict.fromkeys([*self.agents, "__all__"], after.done.astype(bool))
        said = {name: after.metrics[name] for name in ("success", "contact")}
        said["truncation"] = after.info["truncation"]
        infos = {name: jnp.full(self.num_agents, value) for name, value in said.items()}
        return self.get_obs(after), after, rewards, dones, infos

    def _check(self, actions: ByRobot) -> None:
        for name in self.agents:
            check_unit(self._env.action, actions[name])

    def get_obs(self, state: State) -> ByRobot:
        """The observations in a state."""
        return {name: state.obs[i] for i, name in enumerate(self.agents)}  # type: ignore[index]
