"""`MatchEnv`: a match as an environment in JAX; its agents are the robots of both teams, the first team's first."""

import jax
import jax.numpy as jnp

from robomarl.domains.volleyball.lab.match.model import MATCH_MODEL
from robomarl.domains.volleyball.lab.match.scenario import MatchScenario
from robomarl.lab.sim.agents import EpisodeState, State, StepOutcome
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.model.env import ModelEnv
from robomarl.lab.sim.starts import Starts


class MatchEnv(ModelEnv):
    """One rally; metrics are those of the first team: `success` if it wins, `contact` if it loses."""

    scenario: MatchScenario

    @property
    def num_agents(self) -> int:
        """M, robots of both teams."""
        return self.scenario.robots

    def outcome(self, episode: EpisodeState, world: TeamWorld) -> StepOutcome:
        """A fault ends the rally, or its time does."""
        rally = world.own.rally
        ended = self.model.ended(self.scenario, world)
        timeout = ~ended & (world.step >= self.scenario.max_steps)
        return StepOutcome(episode.own, ended, timeout, rally.score > 0.75, rally.score < 0.25)

    def privileged(self, state: State) -> jax.Array:
        """Return [M, P]: each robot's observation, and the time left."""
        world: TeamWorld = state.pipeline_state.world  # type: ignore[union-attr]
        left = jnp.full((self.num_agents, 1), 1.0) * (1 - world.step / self.scenario.max_steps)
        return jnp.concatenate([state.obs, left], -1)  # type: ignore[list-item]


def make_env(
    scenario: MatchScenario, sim: str, weights: dict[str, float] | None, safety: str, starts: Starts | None
) -> MatchEnv:
    """Return the environment; every rally begins with a serve, so `starts` changes nothing."""
    return MatchEnv(MATCH_MODEL, scenario, sim, weights, safety)
