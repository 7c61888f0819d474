"""`TeamSim`: a batch of teams that fly in lockstep, whatever the engine. Numpy outside; draws from one seed.

The same seed gives the same places, weather and noise on every engine and for every policy, so that episodes
can be compared one by one.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import numpy as np

from robomarl.config import UserError
from robomarl.domains.flight.start import ROBOT_DRAWS, TEAM_DRAWS, num_cells, start_world
from robomarl.domains.flight.views import local_views
from robomarl.domains.flight.world import World, num_step_draws, with_plans
from robomarl.sim.scenario import Scenario
from robomarl.view import LocalView, Plan

SIMS = ("fast", "mujoco", "mjx")
"""Names of the engines."""


W = TypeVar("W")
"""What is true at one decision: a `World`, or a `Game`."""


class BatchSim(ABC, Generic[W]):
    """E episodes of a scenario side by side: their state, and all randomness from one seed."""

    def __init__(self, scenario: Any, num_envs: int, seed: int) -> None:
        """Prepare the engine; nothing moves before `reset`.

        Args:
            scenario: what is simulated.
            num_envs: E, episodes that are simulated side by side.
            seed: of everything that is random.
        """
        self.scenario = scenario
        self.num_envs = num_envs
        self._random = np.random.default_rng(seed)
        self._world: W | None = None

    @property
    def world(self) -> W:
        """What is true now, every array with leading axes [E, N] or [E]."""
        if self._world is None:
            raise RuntimeError(f"{type(self).__name__}.world: call reset() first.")
        return self._world

    def set_world(self, world: W) -> None:
        """Go on from another state, as if `reset` had drawn it."""
        self._world = world
        self._started(world)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is flown in here takes nothing from the randomness of the episodes that come after it."""
        kept = self._random.bit_generator.state
        yield
        self._random.bit_generator.state = kept

    def _draw(self, *shape: int) -> np.ndarray:
        return self._random.random(shape, np.float32)

    def _started(self, world: W) -> None:  # noqa: B027
        """What an engine does when a new episode begins; nothing by default."""

    @abstractmethod
    def _advance(self, world: W, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None) -> W:
        """One decision on this engine."""


class TeamSim(BatchSim[World]):
    """E teams of the scenario's N robots. Subclasses are the engines."""

    scenario: Scenario

    def reset(self) -> World:
        """Start E new episodes with new draws of everything that is randomized."""
        num, size = self.num_envs, self.scenario.count
        world = start_world(
            self.scenario,
            self._draw(num, size, ROBOT_DRAWS),
            self._draw(num, TEAM_DRAWS),
            self._draw(num, num_cells(self.scenario)),
        )
        self.set_world(world)
        return self.world

    def set_world(self, world: World) -> None:
        """Go on from another state, as if `reset` had drawn it."""
        super().set_world(with_plans(self.scenario, world))

    def step(self, command: np.ndarray, plan: Plan | None = None) -> World:
        """One decision of every team.

        Args:
            command: [E, N, A], clipped to the vehicle's limits.
            plan: [E, N, 3] each: what the robots' filters committed to with it, which goes out with the state that
                they decided from; by default nobody has a plan.
        """
        draws = self._draw(self.num_envs, self.scenario.count, num_step_draws(self.scenario))
        if plan is not None:
            plan = Plan(*(np.asarray(part, np.float32) for part in plan))
        self._world = self._advance(self.world, np.asarray(command, np.float32), draws, plan)
        return self._world

    def views(self) -> LocalView:
        """What every robot may know now, [E, N, ...]."""
        return local_views(self.scenario, self.world)


def make_team(scenario: Scenario, sim: str, num_envs: int, seed: int) -> TeamSim:
    """A batch of teams on the engine of that name.

    Raises:
        UserError: there is no such engine.
    """
    if sim == "mujoco":
        from robomarl.domains.flight.engines.mujoco import MujocoTeam

        return MujocoTeam(scenario, num_envs, seed)
    if sim in SIMS:
        from robomarl.sim.engines.batch import JaxTeam

        return JaxTeam(scenario, num_envs, seed, sim)
    raise UserError(f"--sim {sim} is not an engine; allowed: {', '.join(SIMS)}.")
