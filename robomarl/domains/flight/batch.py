"""`TeamSim`: a batch of teams that fly in lockstep, whatever the engine."""

import numpy as np

from robomarl.config import UserError
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.flight.start import ROBOT_DRAWS, TEAM_DRAWS, num_cells, start_world
from robomarl.domains.flight.views import local_views
from robomarl.domains.flight.world import World, num_step_draws, with_plans
from robomarl.sim.batch import SIMS, BatchSim
from robomarl.view import LocalView, Plan


class TeamSim(BatchSim[World]):
    """E teams of the scenario's N robots. Subclasses are the engines."""

    scenario: FlightScenario

    def reset(self) -> World:
        """Start E new episodes with new draws of everything that is randomized."""
        num, size = self.num_envs, self.scenario.count
        world = start_world(
            self.scenario,
            self._draw(num, size, ROBOT_DRAWS),
            self._draw(num, TEAM_DRAWS),
            self._draw(num, num_cells(self.scenario)),
        )
        self.set_world(world)
        return self.world

    def set_world(self, world: World) -> None:
        """Go on from another state, as if `reset` had drawn it."""
        super().set_world(with_plans(self.scenario, world))

    def step(self, command: np.ndarray, plan: Plan | None = None) -> World:
        """One decision of every team.

        Args:
            command: [E, N, A], clipped to the vehicle's limits.
            plan: [E, N, 3] each: what the robots' filters committed to with it, which goes out with the state that
                they decided from; by default nobody has a plan.
        """
        draws = self._draw(self.num_envs, self.scenario.count, num_step_draws(self.scenario))
        if plan is not None:
            plan = Plan(*(np.asarray(part, np.float32) for part in plan))
        self._world = self._advance(self.world, np.asarray(command, np.float32), draws, plan)
        return self._world

    def views(self) -> LocalView:
        """What every robot may know now, [E, N, ...]."""
        return local_views(self.scenario, self.world)


def make_team(scenario: FlightScenario, sim: str, num_envs: int, seed: int) -> TeamSim:
    """A batch of teams on the engine of that name.

    Raises:
        UserError: there is no such engine.
    """
    if sim == "mujoco":
        from robomarl.domains.flight.engines.mujoco import MujocoTeam

        return MujocoTeam(scenario, num_envs, seed)
    if sim in SIMS:
        from robomarl.domains.flight.engines.batch import JaxTeam

        return JaxTeam(scenario, num_envs, seed, sim)
    raise UserError(f"--sim {sim} is not an engine; allowed: {', '.join(SIMS)}.")
