"""`LiveStage`: one episode on any engine, moved decision by decision, as a viewer asks for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from robomarl.lab.evaluate.episodes import Moves
from robomarl.lab.scene.scene import Scene, SceneMoment, Staging, decided
from robomarl.lab.sim.batch import BatchSim
from robomarl.lab.sim.scenario import Scenario

W = TypeVar("W")


@dataclass(frozen=True)
class Cast(Generic[W]):
    """The scenario, its engine with one episode, and the pilot of all robots."""

    sim: BatchSim[W]
    staging: Staging[Scenario, W]
    moves: Moves


class LiveStage(Generic[W]):
    """One episode that goes on until it is started again."""

    def __init__(self, cast: Cast[W], newer: Callable[[], Moves | None] = lambda: None) -> None:
        """Start the first episode.

        Args:
            cast: engine and pilot.
            newer: returns another pilot when there is one, such as that of a later checkpoint; asked at each start.
        """
        self._cast, self._newer = cast, newer
        self._moves = cast.moves
        self.scene: Scene = cast.staging.scene(cast.sim.scenario)
        self.moment = self.restart()

    def restart(self) -> SceneMoment:
        """Start another episode, and return its first moment."""
        sim = self._cast.sim
        self._ends_s = sim.scenario.time_limit_s
        self._moves = self._newer() or self._moves
        sim.reset()
        self._carry = self._moves.init(sim.views())
        self.moment = self._moment()
        return self.moment

    def advance(self) -> SceneMoment:
        """Let every robot decide once, and return the moment after it; an episode that is over starts again."""
        sim = self._cast.sim
        if self.moment.time_s >= self._ends_s - 1e-6:
            return self.restart()
        self._carry, result = self._moves.step(self._carry, sim.views())
        sim.step(result.command, self._moves.plan(self._carry))
        self.moment = self._moment()
        if hasattr(result, "nominal"):
            nominal, command, active = (np.asarray(part)[0] for part in (result.nominal, result.command, result.active))
            self.moment = decided(self.moment, nominal, command, active)
        return self.moment

    @property
    def world(self) -> W:
        """The state of the simulation now, every array with a leading axis of one episode."""
        return self._cast.sim.world

    @property
    def sets_goals(self) -> bool:
        """True if goals can be set from outside."""
        return self._cast.staging.with_goal is not None

    def set_goal(self, robot: int, place_m: np.ndarray) -> None:
        """Give a robot, or the load of the team, another goal [3], and the time of an episode from now on to reach it.

        Nothing happens if goals are not set from outside.
        """
        sim, change = self._cast.sim, self._cast.staging.with_goal
        if change is not None:
            sim.set_world(change(sim.scenario, sim.world, robot, place_m.astype(np.float32)))
            self._ends_s = self.moment.time_s + sim.scenario.time_limit_s

    def _moment(self) -> SceneMoment:
        return self._cast.staging.moment(self._cast.sim.scenario, self._cast.sim.world, 0)
