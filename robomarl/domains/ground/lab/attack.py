"""Malicious commands for ground robots; see `robomarl.lab.prove.engine_attack`."""

import numpy as np

from robomarl.core.geometry import components
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.lab.prove.campaign.adversary import Team
from robomarl.lab.prove.engine_attack import EngineAttack, Truth
from robomarl.lab.sim.batch import BatchSim
from robomarl.lab.sim.model.obstacles import obstacle_gap


def look(team: BatchSim) -> Truth:
    """Return the truth about teams that drive; a contact is one with an obstacle."""
    scenario, world = team.scenario, team.world
    assert isinstance(scenario, GroundScenario), "teams that drive"
    pos, vel, goal = (np.asarray(part, float) for part in (world.pos_m, world.vel_m_s, world.goal_m))
    x, y, z = components(pos)
    struck = obstacle_gap(scenario, (x, y, z)) < scenario.vehicle_config.body.radius_m
    middle = (np.array(scenario.arena.low_m) + np.array(scenario.arena.high_m)) / 2
    return Truth(Team(pos, vel, goal), world.closest_m.astype(float).min(-1), struck.any(-1), middle * (1, 1, 0))


ATTACK = EngineAttack(look)
