"""Teams of which some vehicles fly under another controller: the scenario's model-based baseline."""

from typing import Any

import numpy as np

from robomarl.core.bundle.pilot import Observer
from robomarl.core.spec import Memory
from robomarl.core.view import LocalView
from robomarl.domains.flight.lab.payload.controllers.centralized import LoadPosePolicy
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.evaluate.evaluation import FlownPolicy


class BothObserve:
    """Observer of the policy's observation and, behind it, the baseline's."""

    def __init__(self, ours: Observer, theirs: Observer) -> None:
        """Put the two together."""
        self._ours, self._theirs = ours, theirs

    def init(self, view: LocalView) -> Memory:
        """Memory of both."""
        return (self._ours.init(view), self._theirs.init(view))  # type: ignore[return-value]

    def observe(self, memory: Memory, view: LocalView) -> tuple[Memory, Any]:
        """(memory, view) -> (memory, both observations)."""
        ours, own = self._ours.observe(memory[0], view)
        theirs, whole = self._theirs.observe(memory[1], view)
        return (ours, theirs), (own, whole)  # type: ignore[return-value]


class MixedTeam:
    """The policy, except for the last `count` vehicles: those take the commands of the baseline, which
    sees the team.

    The baseline assumes that it controls the whole team.
    """

    def __init__(self, policy: FlownPolicy, scenario: FlightScenario, count: int) -> None:
        """Make the baseline of the scenario."""
        self._policy, self._baseline, self._count = policy, LoadPosePolicy(scenario), count
        self.name, self.action = policy.name, policy.action
        self.scenario_name, self.vehicle_name = policy.scenario_name, policy.vehicle_name
        self.observation = BothObserve(policy.observation, self._baseline.observation)

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """Carries of both."""
        return self._policy.init(batch), self._baseline.init(batch)

    def __call__(self, carry: tuple, obs: tuple[np.ndarray, np.ndarray]) -> tuple[tuple, np.ndarray]:
        """(carry, both observations [E, N, ...]) -> (carry, action [E, N, A])."""
        ours, action = self._policy(carry[0], obs[0])
        theirs, foreign = self._baseline(carry[1], obs[1])
        last = np.arange(action.shape[-2]) >= action.shape[-2] - self._count
        return (ours, theirs), np.where(last[:, None], foreign, action)


def mixed_team(policy: FlownPolicy, scenario: FlightScenario) -> FlownPolicy:
    """The policy, mixed if the scenario pins `foreign` above 0."""
    count = round(scenario.randomize.foreign[1])
    return MixedTeam(policy, scenario, count) if count else policy  # type: ignore[return-value]
