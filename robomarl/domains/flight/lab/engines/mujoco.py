"""`MujocoTeam`: a batch of teams on MuJoCo, with a load or without."""

import numpy as np

from robomarl.core.view import Plan
from robomarl.domains.flight.lab.engines.mujoco_bodies import MujocoBodies
from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.payload.engine_mujoco import MujocoCarriers
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.step import advance
from robomarl.domains.flight.lab.world import FlightWorld


def make_bodies(scenario: FlightScenario, num_envs: int, threads: int | None = None) -> MujocoBodies:
    """Return the moving bodies of this scenario: vehicles, or vehicles and a load."""
    if scenario.load is None:
        return MujocoBodies(scenario, num_envs, threads)
    return MujocoCarriers(scenario, num_envs, threads)


class MujocoTeam(TeamSim):
    """E teams on MuJoCo."""

    def __init__(self, scenario: FlightScenario, num_envs: int, seed: int, threads: int | None = None) -> None:
        """Compile the model; see `TeamSim` and `MujocoBodies`."""
        super().__init__(scenario, num_envs, seed)
        self.bodies = make_bodies(scenario, num_envs, threads)

    @property
    def contact(self) -> np.ndarray:
        """[E] bool: MuJoCo itself has found two robots of this team touching within the last decision."""
        return self.bodies.contact

    def _started(self, world: FlightWorld) -> None:
        self.bodies.prepare(world)

    def _advance(
        self, world: FlightWorld, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None
    ) -> FlightWorld:
        return advance(self.scenario, world, command, draws, self.bodies, plan)
