"""`TeamSim`: a batch of teams that fly in lockstep, on any engine."""

import numpy as np

from robomarl.core.view import LocalView
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.start import ROBOT_DRAWS, TEAM_DRAWS, num_cells, start_world
from robomarl.domains.flight.lab.step import num_step_draws, with_plans
from robomarl.domains.flight.lab.views import local_views
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.batch import BatchSim


class TeamSim(BatchSim[FlightWorld]):
    """E teams of the scenario's N robots. Subclasses are the engines."""

    scenario: FlightScenario
    known: FlightScenario

    def set_world(self, world: FlightWorld) -> None:
        """Go on from another state, as if `reset` had drawn it."""
        super().set_world(with_plans(self.scenario, world))

    def views(self) -> LocalView:
        """Return the views of all robots now, [E, N, ...]."""
        return local_views(self.known, self.world)

    def _start(self) -> FlightWorld:
        num, size = self.num_envs, self.scenario.count
        draws = (self._draw(num, size, ROBOT_DRAWS), self._draw(num, TEAM_DRAWS))
        world = start_world(self.scenario, *draws, self._draw(num, num_cells(self.scenario)))
        if self.scenario.residual:
            world = world._replace(member=(self._draw(num) * self.scenario.residual.members).astype(np.int32))
        return world

    def _step_draws(self) -> np.ndarray:
        return self._draw(self.num_envs, self.scenario.count, num_step_draws(self.scenario))
