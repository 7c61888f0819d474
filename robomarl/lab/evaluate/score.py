"""`TeamScore`: counts for teams with episodes that either succeed or fail, one row per episode."""

import math
from abc import abstractmethod
from typing import NamedTuple, Protocol

import numpy as np

from robomarl.core.geometry import norm
from robomarl.core.types import Figures
from robomarl.lab.evaluate.episodes import EpisodeScore, Step
from robomarl.lab.evaluate.evaluation import Log
from robomarl.lab.evaluate.intervals import bootstrap, mean_of, wilson
from robomarl.lab.sim.batch import World
from robomarl.lab.sim.message import mates_of
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.trees import Tree

SETTLED_S = 1.0
"""Position errors are means over this last part of the episodes that lasted to the time limit."""


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
    """Sum of the distance to the goal over the settled part."""
    square_m2: np.ndarray
    """Sum of its square."""
    error_rad: np.ndarray
    """Sum of the angle to the goal over the settled part; NaN where none is asked for."""
    error_count: np.ndarray
    """Decisions in that sum."""
    last_m: np.ndarray
    """The distance to the goal at the last decision ..."""
    last_rad: np.ndarray
    """... and the angle."""
    own: Tree = ()
    """Additional counts of the kind of team, a NamedTuple of arrays [E, ...]."""


def start_episodes(count: int) -> Episodes:
    """All counts before the first decision."""
    zero = np.zeros(count)
    values = dict.fromkeys((name for name in Episodes._fields if name != "own"), zero)
    no = zero.astype(bool)
    return Episodes(**values)._replace(
        running=~no, failed=no, engine_contact=no, arrived_step=zero - 1, closest_m=zero + np.inf
    )


def successes(done: Episodes) -> np.ndarray:
    """Return [E] bool: True if the team arrived in time and the episode never failed, before or after the arrival."""
    return (done.arrived_step >= 0) & ~done.failed


def settled_errors_m(done: Episodes) -> np.ndarray:
    """[E] mean distance to the goal over the settled part; NaN where the episode ended before."""
    return np.where(done.failed, np.nan, done.error_m / np.maximum(done.error_count, 1))


class RobotsWorld(World, Protocol):
    """State of teams [E, N, ...] whose distances are counted."""

    @property
    def closest_m(self) -> np.ndarray:
        """[E, N] least distance to a mate since the last decision."""
        ...


class TeamScore(EpisodeScore[Episodes]):
    """Rules of a kind of team on its worlds [E, N, ...], and the counts that follow from them.

    A world has `closest_m` [E, N], the least distance to a teammate since the last decision, and `step`
    [E].
    """

    def __init__(self, scenario: Scenario) -> None:
        """Take the scenario."""
        self.scenario = scenario

    @abstractmethod
    def failed(self, world: RobotsWorld) -> np.ndarray:
        """[E] bool: the episode ends as a failure now."""

    @abstractmethod
    def succeeded(self, world: RobotsWorld) -> np.ndarray:
        """Return [E] bool: True if the team meets its goal now."""

    @abstractmethod
    def reward(self, step: Step) -> np.ndarray:
        """[E, N] reward of one decision."""

    @abstractmethod
    def errors(self, world: RobotsWorld) -> tuple[np.ndarray, np.ndarray]:
        """[E] each: distance [m] and angle [rad] to where things shall be; NaN where no such is asked for."""

    @abstractmethod
    def places_m(self, world: RobotsWorld) -> np.ndarray:
        """[E, N, 3] where the robots are."""

    def touching(self, world: RobotsWorld) -> np.ndarray:
        """[E, N] bool: robots that touch another."""
        return world.closest_m < 2 * self.scenario.vehicle_config.body.radius_m

    def struck(self, world: RobotsWorld) -> np.ndarray:
        """[E, N] bool: robots that touch an obstacle."""
        return np.zeros(world.closest_m.shape, bool)

    @property
    def settled_s(self) -> float:
        """Last part of the episode over which errors are averaged."""
        return SETTLED_S

    def start(self, num: int) -> Episodes:
        """All counts before the first decision."""
        return start_episodes(num)

    def running(self, counts: Episodes) -> np.ndarray:
        """[E] bool: not over yet."""
        return counts.running

    def count(self, counts: Episodes, step: Step) -> Episodes:
        """Add one decision to the episodes that are still running."""
        on, world, scenario = counts.running, step.after, self.scenario
        steps = counts.steps + on
        failed = on & np.asarray(self.failed(world))
        arrived = on & ~failed & np.asarray(self.succeeded(world)) & (counts.arrived_step < 0)
        settled = on & (steps > scenario.max_steps - self.settled_s * scenario.rates.policy_hz)
        error_m, error_rad = (np.asarray(e) for e in self.errors(world))
        return counts._replace(
            running=on & ~failed & (steps < scenario.max_steps),
            steps=steps,
            arrived_step=np.where(arrived, steps, counts.arrived_step),
            failed=counts.failed | failed,
            touching=np.where(failed, self.touching(world).sum(-1), counts.touching),
            struck=np.where(failed, self.struck(world).sum(-1), counts.struck),
            engine_contact=counts.engine_contact | (step.contact & (world.step <= counts.steps + 1)),
            reward=counts.reward + np.where(on, self.reward(step).mean(-1), 0.0),
            closest_m=np.where(on, np.minimum(counts.closest_m, world.closest_m.min(-1)), counts.closest_m),
            violations=counts.violations + on * self._too_close(world).sum(-1),
            active=counts.active + on * step.result.active.sum(-1),
            unsolved=counts.unsolved + on * (~step.result.solved).sum(-1),
            error_m=counts.error_m + np.where(settled, error_m, 0.0),
            square_m2=counts.square_m2 + np.where(settled, error_m**2, 0.0),
            error_rad=counts.error_rad + np.where(settled, error_rad, 0.0),
            error_count=counts.error_count + settled,
            last_m=np.where(on, error_m, counts.last_m),
            last_rad=np.where(on, error_rad, counts.last_rad),
        )

    def row(self, step: Step, index: int) -> object:
        """Nothing."""

    def log(self, rows: list) -> Log | None:
        """Return the log built from the `row` results of one episode; None: there is no log."""

    def _too_close(self, world: RobotsWorld) -> np.ndarray:
        """[E, N] bool: inside a team-mate's safety ellipsoid, which is taller than wide by the downwash ratio."""
        safety = self.scenario.vehicle_config.safety
        pos = self.places_m(world) / np.array([1, 1, safety.downwash_ratio], np.float32)
        gap = norm(pos[:, mates_of(self.scenario.count)] - pos[:, :, None])
        return (gap < safety.separation_m).any(-1)

    def figures(self, done: Episodes) -> Figures:
        """Return the JSON fields of one policy's evaluation; fields that do not apply are null."""
        success = successes(done)
        timed_out = ~done.failed
        decisions = done.steps.sum() * self.scenario.count
        closest = float(done.closest_m.min())
        error_rad = (done.error_rad / np.maximum(done.error_count, 1))[timed_out]
        error_m = settled_errors_m(done)[timed_out]
        arrival_s = done.arrived_step[success] * self.scenario.period_s
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
            "min_distance_m": closest if math.isfinite(closest) and self.scenario.count > 1 else None,
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
        }
