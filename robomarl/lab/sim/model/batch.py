"""`ModelSim`: a batch of teams of a `Model`, in NumPy."""

import numpy as np

from robomarl.core.view import LocalView, Plan
from robomarl.lab.sim.batch import BatchSim
from robomarl.lab.sim.model.model import Model
from robomarl.lab.sim.model.world import TeamWorld
from robomarl.lab.sim.scenario import Scenario


class ModelSim(BatchSim[TeamWorld]):
    """E teams on the engine `fast`."""

    def __init__(self, model: Model, scenario: Scenario, num_envs: int, seed: int) -> None:
        """Prepare; nothing moves before `reset`."""
        super().__init__(scenario, num_envs, seed)
        self.model = model

    def views(self) -> LocalView:
        """Return the current view of every robot, [E, N, ...]."""
        return self.model.views(self.scenario, self.world)

    def _start(self) -> TeamWorld:
        return self.model.start(self.scenario, self._step_draws())

    def _step_draws(self) -> np.ndarray:
        return self._draw(self.num_envs, self.scenario.count, self.model.num_draws)

    def _advance(self, world: TeamWorld, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None) -> TeamWorld:
        return self.model.advance(self.scenario, world, command, draws, plan)
