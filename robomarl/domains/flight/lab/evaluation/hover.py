"""Hover quality of a team that has arrived: calm commands, level vehicles, and distance to the goal.

Success asks for one second at the goal. The policy's further flight is watched for longer, apart
from everything else that an evaluation counts, so no figure of the episodes changes.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.types import Figures
from robomarl.core.vectors import up_axis
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.base import Task
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.evaluate.episodes import Step
from robomarl.lab.evaluate.evaluation import HOVER_FIGURES
from robomarl.lab.evaluate.intervals import bootstrap, mean_of
from robomarl.lab.evaluate.score import Episodes, successes

ACCELERATION = ("acceleration.x", "acceleration.y", "acceleration.z")


class Hover(NamedTuple):
    """Sums over the watched decisions of E teams of N robots."""

    left: np.ndarray
    """[E] decisions that are still to be watched."""
    failed: np.ndarray
    """[E] bool: contact, or outside the arena, while it was watched."""
    command: np.ndarray
    """[E, N, 3] commanded acceleration ..."""
    square: np.ndarray
    """[E, N, 3] ... and its square."""
    tilt_rad: np.ndarray
    """[E] angle between a vehicle's thrust and the vertical, mean over the team."""
    error_m: np.ndarray
    """[E] the task's distance to the goal."""


def watched(scenario: FlightScenario, task: Task, seconds: float) -> int:
    """Decisions after a success that are watched: none where the goal moves on, or where a vehicle is lost."""
    moves = scenario.goal_path is not None
    lost = max(scenario.randomize.cut_s[1], scenario.randomize.motors_off_s[1]) > 0
    names = tuple(field.name for field in task.action(scenario).fields[:3])
    return 0 if moves or lost or names != ACCELERATION else round(seconds * scenario.rates.policy_hz)


def start_hover(scenario: FlightScenario, count: int, decisions: int) -> Hover:
    """Return the sums before the first decision of `count` teams."""
    zero, vectors = np.zeros(count), np.zeros((count, scenario.count, 3))
    return Hover(zero.astype(int) + decisions, zero.astype(bool), vectors, vectors, zero, zero)


def waiting(done: Episodes, hover: Hover) -> np.ndarray:
    """[E] bool: teams that have succeeded and are still to be watched."""
    return successes(done) & (hover.left > 0) & ~hover.failed


def count_hover(scenario: FlightScenario, task: Task, hover: Hover, on: np.ndarray, step: Step) -> Hover:
    """Add one decision of the teams `on` [E], of `waiting` before it."""
    failed = on & np.asarray(task.failed(scenario, step.after))
    command = np.where(on[:, None, None], np.asarray(step.result.command, float)[..., :3], 0.0)
    error_m = np.asarray(task.errors(step.after)[0])
    return Hover(
        left=hover.left - on,
        failed=hover.failed | failed,
        command=hover.command + command,
        square=hover.square + command**2,
        tilt_rad=hover.tilt_rad + np.where(on, tilt(step.after).mean(-1), 0.0),
        error_m=hover.error_m + np.where(on, error_m, 0.0),
    )


def tilt(world: FlightWorld) -> np.ndarray:
    """[E, N] angle between a vehicle's thrust and the vertical [rad]."""
    x, y, z = (np.asarray(c) for c in up_axis(world.body.quat))
    return np.arctan2(np.hypot(x, y), z)


def hover_figures(hover: Hover, decisions: int) -> Figures:
    """The JSON fields: means over the teams that were watched to the end; null where there is none.

    `hover_accel_std_m_s2` is the standard deviation of a robot's commanded acceleration about its own mean, all
    three axes together (the root of the summed variances), mean over robots and episodes.
    """
    whole = (hover.left == 0) & ~hover.failed & (decisions > 0)
    kept, count = Hover(*(part[whole] for part in hover)), max(decisions, 1)
    variance = kept.square / count - (kept.command / count) ** 2
    deviation = np.sqrt(np.maximum(variance.sum(-1), 0.0)).mean(-1)
    values = dict(zip(HOVER_FIGURES, (deviation, kept.tilt_rad / count, kept.error_m / count), strict=True))
    found = {name: mean_of(value) for name, value in values.items()}
    spans = {f"{name}_ci95": bootstrap(value) for name, value in values.items()}
    return {**found, **spans, "hover_episodes": int(whole.sum()), "hover_failed_episodes": int(hover.failed.sum())}
