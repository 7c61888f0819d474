"""`SoccerSim`: a batch of games that are played in lockstep, whatever the engine."""

import numpy as np

from robomarl.config import UserError
from robomarl.domains.soccer.game import Game, Play, advance, num_step_draws, planning
from robomarl.domains.soccer.scenario import SoccerScenario
from robomarl.domains.soccer.start import num_start_draws, start_game
from robomarl.domains.soccer.views import player_views
from robomarl.sim.batch import BatchSim
from robomarl.view import LocalView, Plan

SIMS = ("fast", "mujoco")
"""Engines that play soccer."""


class SoccerSim(BatchSim[Game]):
    """E games of both teams. Subclasses are the engines."""

    scenario: SoccerScenario
    play: Play

    def reset(self) -> Game:
        """Start E matches with new draws of everything that is randomized."""
        draws = self._draw(self.num_envs, self.scenario.players, num_start_draws(self.scenario))
        self.set_world(start_game(self.scenario, draws))
        return self.world

    def set_world(self, world: Game) -> None:
        """Go on from another state, as if `reset` had drawn it."""
        super().set_world(planning(world))

    def step(self, command: np.ndarray, plan: Plan | None = None) -> Game:
        """One decision of every game; `command` is [E, M, 4] and `plan` [E, M, 3] each, as in `advance`."""
        draws = self._draw(self.num_envs, self.scenario.players, num_step_draws(self.scenario))
        self._world = self._advance(self.world, np.asarray(command, np.float32), draws, plan)
        return self._world

    def _advance(self, world: Game, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None) -> Game:
        return advance(self.scenario, world, command, draws, self.play, plan)

    def views(self) -> LocalView:
        """What every robot may know now, [E, M, ...]."""
        return player_views(self.scenario, self.world)


class FastSoccer(SoccerSim):
    """E games on the `fast` engine; in numpy, which needs no compilation: `SoccerEnv` is what runs in JAX."""

    def __init__(self, scenario: SoccerScenario, num_envs: int, seed: int) -> None:
        """Prepare the engine; see `BatchSim`."""
        from robomarl.domains.soccer.engines.fast import make_fast

        super().__init__(scenario, num_envs, seed)
        self.play = make_fast(scenario)


class MujocoSoccer(SoccerSim):
    """E games on MuJoCo."""

    def __init__(self, scenario: SoccerScenario, num_envs: int, seed: int, threads: int | None = None) -> None:
        """Compile the model; see `BatchSim` and `MujocoPlay`."""
        from robomarl.domains.soccer.engines.mujoco import MujocoPlay

        super().__init__(scenario, num_envs, seed)
        self.play = MujocoPlay(scenario, num_envs, threads)


def make_soccer(scenario: SoccerScenario, sim: str, num_envs: int, seed: int) -> SoccerSim:
    """A batch of games on the engine of that name.

    Raises:
        UserError: there is no such engine.
    """
    engines = {"fast": FastSoccer, "mujoco": MujocoSoccer}
    if sim not in engines:
        raise UserError(f"--sim {sim} does not play soccer; allowed: {', '.join(SIMS)}.")
    return engines[sim](scenario, num_envs, seed)
