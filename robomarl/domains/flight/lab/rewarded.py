"""Rewards of recorded flights: the task's own terms, on the robots' own estimates."""

from typing import Any

import numpy as np

from robomarl.domains.flight.lab.quadrotor import RigidVehicle
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.step import arrival, closest_approach
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.sim.agents import merge_weights
from robomarl.lab.train.offline.team_path import TeamPath


def rewarded(
    scenario: FlightScenario, path: TeamPath, weights: dict[str, float] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rewards from each tick to the next.

    Errors of the estimates are also in the rewards: distances are those of the estimates, not of the
    vehicles.

    Args:
        scenario: scenario with the task, without a load.
        path: K ticks of N robots.
        weights: of terms, instead of the task's own.

    Returns:
        Reward [K - 1, N]; and [K - 1] bool, the team has failed.
    """
    task, worlds = task_of(scenario), world_of(path)
    before, after = (_rows(worlds, part) for part in (slice(None, -1), slice(1, None)))
    queued = np.concatenate([path.command[:1], path.command[:-1]])[:-1]
    before, after = before._replace(queue=(queued,)), after._replace(queue=(path.command[:-1],))
    after = after._replace(closest_m=closest_approach(before.body, after.body))
    after = after._replace(arrived_s=arrival(scenario, after))
    terms = task.reward_terms(scenario, before, after, path.command[:-1])
    chosen = merge_weights(task.weights, weights)
    reward = sum(weight * scenario.period_s * np.asarray(terms[name]) for name, weight in chosen.items())
    return np.asarray(reward), np.asarray(task.failed(scenario, after))


def world_of(path: TeamPath) -> FlightWorld:
    """Return the recorded part of the world, [K, N]; parts that were not recorded are empty, and no term of these
    tasks reads them.
    """
    parts = (path.pos_m, path.quat_wxyz, path.vel_m_s, path.omega_rad_s, 0 * path.quat_wxyz)
    body = RigidVehicle(*(tuple(np.moveaxis(part, -1, 0)) for part in parts))  # type: ignore[arg-type]
    zero = path.pos_m[..., 0] * 0
    unknown: Any = ()
    return FlightWorld(
        body=body, queue=(path.command,), hidden=unknown, gust_m_s=unknown, measured=unknown, sent=(), air=unknown,
        goal_m=path.goal_m, arrived_s=zero, closest_m=zero, step=np.arange(len(zero)),
    )  # fmt: skip


def _rows(world: FlightWorld, part: slice) -> FlightWorld:
    body = RigidVehicle(*(tuple(component[part] for component in vector) for vector in world.body))  # type: ignore[arg-type]
    same = {name: getattr(world, name)[part] for name in ("goal_m", "arrived_s", "closest_m", "step")}
    return world._replace(body=body, **same)
