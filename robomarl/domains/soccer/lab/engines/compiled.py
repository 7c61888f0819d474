"""`CompiledSoccerSim`: many games on the `fast` engine, compiled by XLA."""

from functools import partial

import jax
import numpy as np

from robomarl.core.view import LocalView, Plan
from robomarl.domains.soccer.lab.batch import SoccerSim
from robomarl.domains.soccer.lab.engines.fast import make_fast
from robomarl.domains.soccer.lab.game import SoccerWorld, advance
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.views import player_views


class CompiledSoccerSim(SoccerSim):
    """Games as those of `SoccerSim`; compiling takes seconds, and then numpy's share of a decision is saved."""

    def __init__(self, scenario: SoccerScenario, num_envs: int, seed: int) -> None:
        """Prepare; the first decision compiles the engine."""
        super().__init__(scenario, num_envs, seed, make_fast(scenario))
        self._compiled = jax.jit(partial(advance, scenario, play=self.play))
        self._look = jax.jit(partial(player_views, scenario))

    def _advance(
        self, world: SoccerWorld, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None
    ) -> SoccerWorld:
        return jax.tree.map(np.asarray, self._compiled(world, command, draws, plan=plan))

    def views(self) -> LocalView:
        """Return the views of all robots now, [E, M, ...]."""
        return jax.tree.map(np.asarray, self._look(self.world))
