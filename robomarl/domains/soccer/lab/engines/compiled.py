"""`compiled_games`: games side by side on the `fast` engine, as one program that XLA compiles."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from robomarl.core.view import LocalView, Plan
from robomarl.domains.soccer.lab.batch import SoccerSim
from robomarl.domains.soccer.lab.engines.fast import make_fast
from robomarl.domains.soccer.lab.game import Play, SoccerWorld, advance
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.views import player_views


class Programs(NamedTuple):
    """Compiled parts of games."""

    play: Play
    """Engine."""
    advance: Callable[..., SoccerWorld]
    """(world, command, draws, plan) -> the world one decision later."""
    views: Callable[[SoccerWorld], LocalView]


def compiled_games(scenario: SoccerScenario) -> Callable[[int, int], SoccerSim]:
    """Scenario -> function (E, seed) -> E games side by side; the first ones compile the programs of all."""
    play = make_fast(scenario)
    programs = Programs(play, jax.jit(partial(advance, scenario, play=play)), jax.jit(partial(player_views, scenario)))
    return partial(CompiledSoccerSim, scenario, programs)


class CompiledSoccerSim(SoccerSim):
    """Games as those of `SoccerSim`; numpy's share of a decision is saved."""

    def __init__(self, scenario: SoccerScenario, programs: Programs, num_envs: int, seed: int) -> None:
        """Prepare; the first decision compiles the programs, if no other games have."""
        super().__init__(scenario, num_envs, seed, programs.play)
        self._programs = programs

    def _advance(
        self, world: SoccerWorld, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None
    ) -> SoccerWorld:
        return jax.tree.map(np.asarray, self._programs.advance(world, command, draws, plan=plan))

    def views(self) -> LocalView:
        """Return the views of all robots now, [E, M, ...]."""
        return jax.tree.map(np.asarray, self._programs.views(self.world))
