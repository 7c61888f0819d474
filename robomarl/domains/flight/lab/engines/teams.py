"""`make_team`: a batch of teams on the engine of a name."""

from robomarl.core.config import UserError
from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.scenario import FlightScenario
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
        from robomarl.domains.flight.lab.engines.batch import JaxTeam

        return JaxTeam(scenario, num_envs, seed, sim)
    raise UserError(f"--sim {sim} is not an engine; allowed: {', '.join(SIMS)}.")
