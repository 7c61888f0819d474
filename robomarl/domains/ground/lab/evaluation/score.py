"""`GroundScore`: episodes counted as the published table counts them."""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import components
from robomarl.core.types import Figures
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks import task_of
from robomarl.lab.evaluate.episodes import Step
from robomarl.lab.evaluate.intervals import bootstrap, mean_of
from robomarl.lab.evaluate.model_episodes import ModelScore
from robomarl.lab.evaluate.score import Episodes
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.model.obstacles import obstacle_gap


class GroundCounts(NamedTuple):
    """Besides, [E] each."""

    metric: np.ndarray
    """The task's number, at the last decision."""


class GroundScore(ModelScore):
    """Returns as sums of the published rewards, without rewards that only training has."""

    scenario: GroundScenario

    side_by_side = 128

    def start(self, num: int) -> Episodes:
        """All counts before the first decision."""
        return super().start(num)._replace(own=GroundCounts(np.zeros(num)))

    def count(self, counts: Episodes, step: Step) -> Episodes:
        """Add one decision."""
        metric = np.asarray(task_of(self.scenario).metric(self.scenario, step.after), float)
        kept = GroundCounts(np.where(counts.running, metric, counts.own.metric))
        return super().count(counts, step)._replace(own=kept)

    def struck(self, world: TeamWorld) -> np.ndarray:
        """[E, N] bool: in an obstacle."""
        x, y, z = components(world.pos_m)
        return obstacle_gap(self.scenario, (x, y, z)) < self.scenario.vehicle_config.body.radius_m

    def reward(self, step: Step) -> np.ndarray:
        """[E, N] of one decision."""
        task = task_of(self.scenario)
        terms = task.published(self.scenario, step.before, step.after)
        return np.asarray(sum(task.weights[name] * self.scenario.period_s * term for name, term in terms.items()))

    def figures(self, done: Episodes) -> Figures:
        """Return the figures with the task's number."""
        name = task_of(self.scenario).metric_name
        metric = done.own.metric
        return {
            **super().figures(done),
            "metric": name,
            "metric_mean": mean_of(metric),
            "metric_ci95": bootstrap(metric),
        }
