"""Malicious commands for teams that fly, with a load or without; see `robomarl.lab.prove.engine_attack`."""

import numpy as np

from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.world import positions, velocities
from robomarl.lab.prove.campaign.adversary import Team
from robomarl.lab.prove.engine_attack import EngineAttack, Truth
from robomarl.lab.sim.batch import BatchSim


def look(team: BatchSim) -> Truth:
    """Return what is true of teams that fly."""
    assert isinstance(team, TeamSim), "teams that fly"
    world, num = team.world, team.num_envs
    now = Team(positions(world.body).astype(float), velocities(world.body).astype(float), world.goal_m.astype(float))
    closest = np.asarray(world.closest_m, float).reshape(num, -1).min(-1)
    contact = np.asarray(getattr(team, "contact", np.zeros(num, bool)))
    return Truth(now, closest, contact, np.array([0, 0, team.scenario.start.height_m]))


ATTACK = EngineAttack(look)
