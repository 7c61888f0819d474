"""`VolleyScore`: episodes counted as the published tables count them."""

from typing import NamedTuple

import numpy as np

from robomarl.core.types import Figures
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks import task_of
from robomarl.lab.evaluate.episodes import Step
from robomarl.lab.evaluate.intervals import bootstrap, mean_of
from robomarl.lab.evaluate.model_episodes import ModelScore
from robomarl.lab.evaluate.score import Episodes


class VolleyCounts(NamedTuple):
    """Besides, [E] each."""

    metric: np.ndarray
    """The task's metric, at the last decision."""
    hits: np.ndarray
    """Hits that counted."""
    wrong: np.ndarray
    """bool: a wrong hit ended the episode."""


class VolleyScore(ModelScore):
    """The published metric of the task, and the hits."""

    scenario: VolleyScenario

    def start(self, num: int) -> Episodes:
        """All counts before the first decision."""
        zero = np.zeros(num)
        return super().start(num)._replace(own=VolleyCounts(zero, zero, zero.astype(bool)))

    def count(self, counts: Episodes, step: Step) -> Episodes:
        """Add one decision."""
        rally, own = step.after.own.rally, counts.own
        found = zip((rally.score, rally.hits, rally.wrong), own, strict=True)
        kept = VolleyCounts(*(np.where(counts.running, np.asarray(now), was) for now, was in found))
        return super().count(counts, step)._replace(own=kept)

    def figures(self, done: Episodes) -> Figures:
        """Return the figures with the task's metric."""
        metric = np.asarray(done.own.metric, float)
        return {
            **super().figures(done),
            "metric": task_of(self.scenario).metric,
            "metric_mean": mean_of(metric),
            "metric_ci95": bootstrap(metric),
            "hits_mean": mean_of(np.asarray(done.own.hits, float)),
            "wrong_hit_episodes": int(np.sum(done.own.wrong)),
            "fault_episodes": int(done.failed.sum()),
        }
