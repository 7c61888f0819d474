"""Scores of a flying team, and of its load, in an evaluation."""

import math

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.log import FlightLog
from robomarl.core.types import Figures
from robomarl.domains.flight.lab.evaluation.hover import count_hover, hover_figures, start_hover, waiting, watched
from robomarl.domains.flight.lab.payload.flight_log import load_columns, one_of, stacked
from robomarl.domains.flight.lab.payload.follow import path_error
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.domains.flight.lab.world import FlightWorld, positions, velocities
from robomarl.lab.evaluate.episodes import Step
from robomarl.lab.evaluate.intervals import mean_of, wilson
from robomarl.lab.evaluate.score import Episodes, TeamScore
from robomarl.lab.sim.model.obstacles import obstacle_gap

PATH_FROM_S = 5.0
"""Time [s] from which errors to a moving goal are averaged; by then the load has caught up with the goal."""
KEPT_S, KEPT_M, KEPT_RAD = 10.0, 0.5, math.radians(20)
"""Time [s] after the loss of a vehicle at which a load counts as kept if it is within this distance [m] (and angle
[rad]) of its place.
"""


class FlightScore(TeamScore):
    """Flights by the rules of their task; `Episodes.own` is how they hover."""

    scenario: FlightScenario

    def __init__(self, scenario: FlightScenario, hover_s: float = 0.0) -> None:
        """Take the scenario; teams that have succeeded are watched for `hover_s` from then on."""
        super().__init__(scenario)
        self._task = task_of(scenario)
        self._hovers = hover_s > 0
        self._decisions = watched(scenario, self._task, hover_s)

    def failed(self, world: FlightWorld) -> np.ndarray:
        """[E] bool: as the task says."""
        return np.asarray(self._task.failed(self.scenario, world))

    def succeeded(self, world: FlightWorld) -> np.ndarray:
        """[E] bool: as the task says."""
        return np.asarray(self._task.succeeded(self.scenario, world))

    def reward(self, step: Step) -> np.ndarray:
        """[E, N] by the task's terms and weights."""
        terms = self._task.reward_terms(self.scenario, step.before, step.after, step.result.command)
        return np.asarray(sum(self._task.weights[k] * self.scenario.period_s * v for k, v in terms.items()))

    def errors(self, world: FlightWorld) -> tuple[np.ndarray, np.ndarray]:
        """[E] each: as the task says; to the path where the goal moves."""
        error_m, error_rad = (np.asarray(e) for e in self._task.errors(world))
        return (np.asarray(path_error(self.scenario, world)) if self._follows else error_m), error_rad

    def places_m(self, world: FlightWorld) -> np.ndarray:
        """[E, N, 3] where the robots are."""
        return positions(world.body)

    def struck(self, world: FlightWorld) -> np.ndarray:
        """[E, N] bool: robots that touch an obstacle."""
        return obstacle_gap(self.scenario, world.body.pos) < self.scenario.vehicle_config.body.radius_m

    @property
    def _follows(self) -> bool:
        return self.scenario.goal_path is not None

    @property
    def settled_s(self) -> float:
        """Last part of the episode over which errors are averaged."""
        return self.scenario.time_limit_s - PATH_FROM_S if self._follows else super().settled_s

    def start(self, num: int) -> Episodes:
        """All counts before the first decision."""
        return super().start(num)._replace(own=start_hover(self.scenario, num, self._decisions))

    def watched(self, counts: Episodes) -> np.ndarray:
        """[E] bool: teams that have succeeded and are still to be watched."""
        return waiting(counts, counts.own)

    def count_watched(self, counts: Episodes, step: Step) -> Episodes:
        """Add one decision of those."""
        return counts._replace(own=count_hover(self.scenario, self._task, counts.own, self.watched(counts), step))

    def count(self, counts: Episodes, step: Step) -> Episodes:
        """Add one decision to the episodes that are still running, and to how those hover that had arrived."""
        hover = self.count_watched(counts, step).own
        return super().count(counts, step)._replace(own=hover)

    def row(self, step: Step, index: int) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
        """The robots' columns, and the load's."""
        body, result = step.before.body, step.result
        own = (positions(body), np.stack(body.quat, -1), velocities(body), step.before.goal_m)
        columns = [np.array(c[index]) for c in (*own, result.nominal, result.command, result.active)]
        return columns, one_of(load_columns(step.before, self.scenario.period_s), index)

    def log(self, rows: list[tuple[list[np.ndarray], dict[str, np.ndarray]]]) -> FlightLog | None:
        """Flight of the recorded episode."""
        if not rows:
            return None
        vehicle, (own, loads) = self.scenario.vehicle_config, zip(*rows, strict=True)
        columns = (np.stack(column) for column in zip(*own, strict=True))
        time_s = np.arange(len(rows)) * self.scenario.period_s
        sizes = (vehicle.body.radius_m, vehicle.safety.separation_m)
        return FlightLog(*[time_s, *columns, *sizes], **stacked(list(loads)))

    def figures(self, done: Episodes) -> Figures:
        """The JSON fields; how they hover only where that was to be watched."""
        hover = hover_figures(done.own, self._decisions) if self._hovers else {}
        more = {**loss_figures(self.scenario, done), **path_figures(self.scenario, done)}
        return {**super().figures(done), **more, **hover}


def path_figures(scenario: FlightScenario, done: Episodes) -> Figures:
    """How well a load follows a goal that moves; empty where it stays."""
    if scenario.goal_path is None:
        return {}
    whole = ~done.failed
    squares = (done.square_m2 / np.maximum(done.error_count, 1))[whole]
    return {"path_rmse_m": mean_of(np.sqrt(squares)), "path_followed_rate": float(whole.mean())}


def loss_figures(scenario: FlightScenario, done: Episodes) -> Figures:
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
