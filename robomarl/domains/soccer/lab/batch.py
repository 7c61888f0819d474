"""`SoccerSim`: a batch of games that are played in lockstep, on any engine."""

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.view import LocalView, Plan
from robomarl.domains.soccer.lab.game import Play, SoccerWorld, advance, num_step_draws, planning
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.start import num_start_draws, start_game
from robomarl.domains.soccer.lab.views import player_views
from robomarl.lab.sim.batch import BatchSim

SIMS = ("fast", "mujoco")
"""Engines that play soccer."""


class SoccerSim(BatchSim[SoccerWorld]):
    """E games of both teams; commands and plans are rows of all robots, [E, M, ...]."""

    scenario: SoccerScenario

    def __init__(self, scenario: SoccerScenario, num_envs: int, seed: int, play: Play) -> None:
        """Prepare; see `BatchSim`. `play` is the engine."""
        super().__init__(scenario, num_envs, seed)
        self.play = play

    def set_world(self, world: SoccerWorld) -> None:
        """Go on from another state, as if `reset` had drawn it."""
        super().set_world(planning(world))

    def _start(self) -> SoccerWorld:
        return start_game(
            self.scenario, self._draw(self.num_envs, self.scenario.players, num_start_draws(self.scenario))
        )

    def _step_draws(self) -> np.ndarray:
        return self._draw(self.num_envs, self.scenario.players, num_step_draws(self.scenario))

    def _advance(
        self, world: SoccerWorld, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None
    ) -> SoccerWorld:
        return advance(self.scenario, world, command, draws, self.play, plan)

    def views(self) -> LocalView:
        """Return the views of all robots now, [E, M, ...]."""
        return player_views(self.scenario, self.world)


def make_soccer(scenario: SoccerScenario, sim: str, num_envs: int, seed: int, threads: int | None = None) -> SoccerSim:
    """A batch of games on the engine of that name: `fast` in numpy, which needs no compilation, or `mujoco`.

    Raises:
        UserError: there is no such engine.
    """
    if sim not in SIMS:
        raise UserError(f"--sim {sim} does not play soccer; allowed: {', '.join(SIMS)}.")
    if sim == "fast":
        from robomarl.domains.soccer.lab.engines.fast import make_fast

        return SoccerSim(scenario, num_envs, seed, make_fast(scenario))
    from robomarl.domains.soccer.lab.engines.mujoco import MujocoPlay

    return SoccerSim(scenario, num_envs, seed, MujocoPlay(scenario, num_envs, threads))
