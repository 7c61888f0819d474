"""`make_team`: a batch of teams on the engine of a name; `JaxTeam`: on the JAX engines, `fast` and `mjx`."""

import jax
import numpy as np

from robomarl.core.config import UserError
from robomarl.core.view import Plan
from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.env import make_engine
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.step import advance
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.batch import SIMS


def make_team(scenario: FlightScenario, sim: str, num_envs: int, seed: int) -> TeamSim:
    """A batch of teams on the engine of that name.

    Raises:
        UserError: there is no such engine.
    """
    if sim == "mujoco":
        from robomarl.domains.flight.lab.engines.mujoco import MujocoTeam

        return MujocoTeam(scenario, num_envs, seed)
    if sim in SIMS:
        return JaxTeam(scenario, num_envs, seed, sim)
    raise UserError(f"--sim {sim} is not an engine; allowed: {', '.join(SIMS)}.")


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
