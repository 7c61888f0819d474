"""What an evaluation counts: one row per episode, the same for every engine and policy."""

import math
from typing import Any, NamedTuple

import numpy as np

from robomarl.config import UserError
from robomarl.domains.flight.obstacles import obstacle_gap
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.flight.tasks.base import Task
from robomarl.domains.flight.world import World, positions
from robomarl.domains.payload.follow import path_error
from robomarl.evaluate.intervals import bootstrap, wilson
from robomarl.geometry import norm
from robomarl.sim.message import mates_of
from robomarl.types import FilterResult

SETTLED_S = 1.0
"""Position errors are means over this last part of the episodes that lasted to the time limit."""
PATH_FROM_S = 5.0
"""Where the goal moves, they are means from here on: by then the load has caught up with it."""
KEPT_S, KEPT_M, KEPT_RAD = 10.0, 0.5, math.radians(20)
"""A load is kept if it is within this distance (and angle) of its place so long after a vehicle was lost."""


class Episodes(NamedTuple):
    """Counts of E episodes, [E] each."""

    running: np.ndarray
    """bool: not over yet."""
    steps: np.ndarray
    """Decisions flown."""
    arrived_step: np.ndarray
    """Decision at which the team had succeeded; -1 until then."""
    failed: np.ndarray
    """bool: ended by contact or outside the arena."""
    touching: np.ndarray
    """Robots in contact when the episode ended."""
    struck: np.ndarray
    """Robots that touched an obstacle when the episode ended."""
    engine_contact: np.ndarray
    """bool: the engine itself reported a contact (`mujoco` only), up to one decision late."""
    reward: np.ndarray
    """Return so far, mean over robots."""
    closest_m: np.ndarray
    """Least distance between two centres so far."""
    violations: np.ndarray
    """Decisions of robots that were inside a team-mate's safety ellipsoid."""
    active: np.ndarray
    """Decisions of robots that the filter changed."""
    unsolved: np.ndarray
    """Decisions of robots for which the filter found no command that holds all rows."""
    error_m: np.ndarray
    """Sum of the task's distance to the goal over the settled part."""
    square_m2: np.ndarray
    """Sum of its square."""
    error_rad: np.ndarray
    """Sum of the task's angle to the goal over the settled part; NaN where it asks for none."""
    error_count: np.ndarray
    """Decisions in that sum."""
    last_m: np.ndarray
    """The task's distance to the goal at the last decision ..."""
    last_rad: np.ndarray
    """... and its angle."""


def start_episodes(count: int) -> Episodes:
    """All counts before the first decision."""
    zero = np.zeros(count)
    values = dict.fromkeys(Episodes._fields, zero)
    no = zero.astype(bool)
    return Episodes(**values)._replace(
        running=~no, failed=no, engine_contact=no, arrived_step=zero - 1, closest_m=zero + np.inf
    )


class Step(NamedTuple):
    """One decision of E teams, as the tally sees it."""

    before: World
    after: World
    result: FilterResult
    reward: np.ndarray
    """[E, N]"""
    contact: np.ndarray
    """[E] bool: the engine's own contact reading."""


def count_step(scenario: FlightScenario, task: Task, so_far: Episodes, step: Step) -> Episodes:
    """Add one decision to the episodes that are still running."""
    on, world = so_far.running, step.after
    steps = so_far.steps + on
    failed = on & np.asarray(task.failed(scenario, world))
    arrived = on & ~failed & np.asarray(task.succeeded(scenario, world)) & (so_far.arrived_step < 0)
    settled = on & (steps > scenario.max_steps - settled_s(scenario) * scenario.rates.policy_hz)
    error_m, error_rad = (np.asarray(e) for e in task.errors(world))
    radius = scenario.vehicle_config.body.radius_m
    if scenario.load is not None and scenario.load.path is not None:
        error_m = np.asarray(path_error(scenario, world))
    touching, struck = world.closest_m < 2 * radius, obstacle_gap(scenario, world.body.pos) < radius
    return so_far._replace(
        running=on & ~failed & (steps < scenario.max_steps),
        steps=steps,
        arrived_step=np.where(arrived, steps, so_far.arrived_step),
        failed=so_far.failed | failed,
        touching=np.where(failed, touching.sum(-1), so_far.touching),
        struck=np.where(failed, struck.sum(-1), so_far.struck),
        engine_contact=so_far.engine_contact | (step.contact & (world.step <= so_far.steps + 1)),
        reward=so_far.reward + np.where(on, step.reward.mean(-1), 0.0),
        closest_m=np.where(on, np.minimum(so_far.closest_m, world.closest_m.min(-1)), so_far.closest_m),
        violations=so_far.violations + on * too_close(scenario, world).sum(-1),
        active=so_far.active + on * step.result.active.sum(-1),
        unsolved=so_far.unsolved + on * (~step.result.solved).sum(-1),
        error_m=so_far.error_m + np.where(settled, error_m, 0.0),
        square_m2=so_far.square_m2 + np.where(settled, error_m**2, 0.0),
        error_rad=so_far.error_rad + np.where(settled, error_rad, 0.0),
        error_count=so_far.error_count + settled,
        last_m=np.where(on, error_m, so_far.last_m),
        last_rad=np.where(on, error_rad, so_far.last_rad),
    )


def settled_s(scenario: FlightScenario) -> float:
    """Last part of the episode over which errors are averaged."""
    path = scenario.load.path if scenario.load else None
    return SETTLED_S if path is None else scenario.time_limit_s - PATH_FROM_S


def too_close(scenario: FlightScenario, world: World) -> np.ndarray:
    """[E, N] bool: inside a team-mate's safety ellipsoid, which is taller than wide by the downwash ratio."""
    safety = scenario.vehicle_config.safety
    pos = positions(world.body) / np.array([1, 1, safety.downwash_ratio], np.float32)
    gap = norm(pos[:, mates_of(scenario.count)] - pos[:, :, None])
    return (gap < safety.separation_m).any(-1)


def join(parts: list[Any], episodes: int) -> Any:
    """Several batches (of `Episodes`, or other tuples of arrays [E, ...]) as one, cut to so many episodes."""
    return type(parts[0])(*(np.concatenate(column)[:episodes] for column in zip(*parts, strict=True)))


def successes(done: Episodes) -> np.ndarray:
    """[E] bool: the team arrived within the time, and nobody touched or left before or after."""
    return (done.arrived_step >= 0) & ~done.failed


def figures(scenario: FlightScenario, done: Episodes) -> dict[str, Any]:
    """The JSON fields of one policy's evaluation; what does not apply is null."""
    success = successes(done)
    timed_out = ~done.failed
    decisions = done.steps.sum() * scenario.count
    closest = float(done.closest_m.min())
    error_rad = (done.error_rad / np.maximum(done.error_count, 1))[timed_out]
    error_m = (done.error_m / np.maximum(done.error_count, 1))[timed_out]
    arrival_s = done.arrived_step[success] * scenario.period_s
    collisions = np.ceil(done.touching / 2) + done.struck
    return {
        "success_rate": float(success.mean()),
        "success_ci95": wilson(int(success.sum()), len(success)),
        "return_mean": float(done.reward.mean()),
        "return_ci95": bootstrap(done.reward),
        "collisions": int(collisions.sum()),
        "collision_episodes": int((collisions > 0).sum()),
        "engine_contact_episodes": int(done.engine_contact.sum()),
        "left_arena_episodes": int((done.failed & (collisions == 0)).sum()),
        "min_distance_m": closest if math.isfinite(closest) else None,
        "position_error_m": mean_of(error_m),
        "position_error_ci95": bootstrap(error_m),
        "attitude_error_rad": mean_of(error_rad),
        "attitude_error_ci95": bootstrap(error_rad),
        "separation_violations": int(done.violations.sum()),
        "separation_violation_episodes": int((done.violations > 0).sum()),
        "arrival_time_s": mean_of(arrival_s),
        "arrival_time_ci95": bootstrap(arrival_s),
        "active_decisions": int(done.active.sum()),
        "active_share": float(done.active.sum() / max(decisions, 1)),
        "infeasible": int(done.unsolved.sum()),
        "agent_steps": int(decisions),
        **loss_figures(scenario, done),
        **path_figures(scenario, done),
    }


def path_figures(scenario: FlightScenario, done: Episodes) -> dict[str, Any]:
    """How well a load follows a goal that moves; empty where it stays."""
    if scenario.load is None or scenario.load.path is None:
        return {}
    whole = ~done.failed
    squares = (done.square_m2 / np.maximum(done.error_count, 1))[whole]
    return {"path_rmse_m": mean_of(np.sqrt(squares)), "path_followed_rate": float(whole.mean())}


def loss_figures(scenario: FlightScenario, done: Episodes) -> dict[str, Any]:
    """How the load was when the episode ended, `KEPT_S` or more after a vehicle was lost; empty if none is lost.

    Raises:
        UserError: the episodes end sooner after the loss.
    """
    lost_s = max(scenario.randomize.cut_s[1], scenario.randomize.motors_off_s[1])
    if not lost_s:
        return {}
    if scenario.time_limit_s < lost_s + KEPT_S - 1e-6:
        raise UserError(
            f"{scenario.name}: a vehicle is lost at {lost_s:g} s and time_limit_s = {scenario.time_limit_s:g}; what is "
            f"left of the load's place is measured {KEPT_S:g} s later: fly a scenario of {lost_s + KEPT_S:g} s or more."
        )
    kept = ~done.failed & (done.last_m < KEPT_M)
    level = kept & (done.last_rad < KEPT_RAD)
    whole = done.last_m[~done.failed]
    return {
        "kept_rate": float(kept.mean()),
        "kept_ci95": wilson(int(kept.sum()), len(kept)),
        "kept_attitude_rate": float(level.mean()),
        "kept_attitude_ci95": wilson(int(level.sum()), len(level)),
        "lost_position_error_m": mean_of(whole),
    }


def mean_of(values: np.ndarray) -> float | None:
    """Mean; none where there are no values, or where the task has none."""
    return float(values.mean()) if len(values) and np.isfinite(values).all() else None
