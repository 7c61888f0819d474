"""`JaxTeam`: the JAX engines (`fast`, `mjx`) behind the interface of `TeamSim`."""

import jax
import numpy as np

from robomarl.core.view import Plan
from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.env import make_engine
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.step import advance
from robomarl.domains.flight.lab.world import FlightWorld


class JaxTeam(TeamSim):
    """E teams on a JAX engine, stepped by one compiled call per decision."""

    def __init__(self, scenario: FlightScenario, num_envs: int, seed: int, sim: str = "fast") -> None:
        """Prepare the engine; it is compiled at the first step.

        Args:
            scenario: the simulated scenario.
            num_envs: E, teams side by side.
            seed: seed of all random draws.
            sim: "fast" or "mjx".

        Raises:
            UserError: there is no JAX engine of that name.
        """
        super().__init__(scenario, num_envs, seed)
        integrate = make_engine(scenario, sim)
        self._run = jax.jit(
            jax.vmap(lambda world, command, draws, plan: advance(scenario, world, command, draws, integrate, plan))
        )

    def _advance(
        self, world: FlightWorld, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None
    ) -> FlightWorld:
        return jax.device_get(self._run(world, command, draws, plan))
