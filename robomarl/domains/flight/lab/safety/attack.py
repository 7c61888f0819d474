"""Malicious commands for teams that fly, with a load or without; see `robomarl.lab.prove.engine_attack`."""

import numpy as np

from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.world import positions, velocities
from robomarl.lab.prove.campaign.adversary import Team
from robomarl.lab.prove.engine_attack import EngineAttack, Truth
from robomarl.lab.sim.batch import BatchSim


def look(team: BatchSim) -> Truth:
    """Return the truth about teams that fly."""
    assert isinstance(team, TeamSim), "teams that fly"
    world, num = team.world, team.num_envs
    now = Team(positions(world.body).astype(float), velocities(world.body).astype(float), world.goal_m.astype(float))
    closest = np.asarray(world.closest_m, float).reshape(num, -1).min(-1)
    contact = np.asarray(getattr(team, "contact", np.zeros(num, bool)))
    centre = np.array([0, 0, team.scenario.start.height_m])
    return (
        Truth(now, closest, contact, centre) if team.scenario.load is None else _with_load(team, now, closest, contact)
    )


def _with_load(team: TeamSim, now: Team, closest_m: np.ndarray, contact: np.ndarray) -> Truth:
    """Return the truth about teams with a load: vehicles may touch the load too, and their goals are above its own."""
    from robomarl.domains.flight.core.payload.statics import reach_m
    from robomarl.domains.flight.lab.payload.lift import box_distance

    scenario, load = team.scenario, team.world.carried
    section, cables = scenario.carried
    bumped = np.asarray(box_distance(scenario, team.world)) < scenario.vehicle_config.body.radius_m
    above = np.array([0, 0, reach_m(section, cables)])
    middle = (np.array(section.goal.low_m) + np.array(section.goal.high_m)) / 2 + above
    swing = np.stack(load.rigid.vel, -1)[:, None].astype(float) - now.vel
    pumping = -swing / np.maximum(np.linalg.norm(swing, axis=-1, keepdims=True), 1e-9)
    return Truth(now._replace(goal=now.goal + above), closest_m, contact | bumped.any(-1), middle, pumping)


ATTACK = EngineAttack(look)
