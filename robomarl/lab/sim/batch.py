"""`BatchSim`: episodes in lockstep, for every engine and kind of team. Numpy outside; draws from one
seed.

Equal seeds give equal places, weather and noise on every engine and for every policy, so that
episodes can be compared one by one.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

import numpy as np

from robomarl.core.types import Array
from robomarl.core.view import LocalView, Plan
from robomarl.lab.sim.scenario import Scenario

SIMS = ("fast", "mujoco", "mjx")
"""Names of the engines."""
W = TypeVar("W")
"""State of a domain at one decision."""


class World(Protocol):
    """State of any domain, as far as generic code reads it."""

    @property
    def step(self) -> Array:
        """[...] int: decisions since the start."""
        ...


class BatchSim(ABC, Generic[W]):
    """E episodes of a scenario side by side: their state, and all randomness from one seed."""

    def __init__(self, scenario: Scenario, num_envs: int, seed: int) -> None:
        """Prepare the engine; nothing moves before `reset`.

        Args:
            scenario: the simulated scenario.
            num_envs: E, number of episodes that are simulated side by side.
            seed: seed of everything that is random.
        """
        self.scenario = scenario
        self.known = scenario
        """Scenario that the robots assume; a different one has to be set before the first `reset`."""
        self.num_envs = num_envs
        self.whole = num_envs
        """Episodes of a batch; fewer or more than E where `take` says so."""
        self._seed, self._random = seed, np.random.default_rng(seed)
        self._rows = np.arange(num_envs)
        self._world: W | None = None

    @property
    def world(self) -> W:
        """Return the current state, every array with leading axes [E, N] or [E]."""
        if self._world is None:
            raise RuntimeError(f"{type(self).__name__}.world: call reset() first.")
        return self._world

    def reset(self) -> W:
        """Start E new episodes with new draws of everything that is randomized."""
        self.set_world(self._start())
        return self.world

    def step(self, command: np.ndarray, plan: Plan | None = None) -> W:
        """Simulate one decision of every team.

        Args:
            command: [E, N, A], clipped to the limits of the action.
            plan: [E, N, 3] each: plans of the robots' filters for this command, sent with the state that
                led to the decision; by default no robot has a plan.
        """
        if plan is not None:
            plan = Plan(*(np.asarray(part, np.float32) for part in plan))
        self._world = self._advance(self.world, np.asarray(command, np.float32), self._step_draws(), plan)
        return self._world

    @abstractmethod
    def views(self) -> LocalView:
        """Return the current view of every robot, [E, N, ...]."""

    def set_world(self, world: W) -> None:
        """Go on from another state, as if `reset` had drawn it."""
        self._world = world
        self._started(world)

    def take(self, first: int, whole: int, batch: int = 0) -> None:
        """Simulate E episodes of a larger batch, each with the draws that it has there.

        Args:
            first: number of the first of the episodes in the batch; after its last one, its first one follows.
            whole: episodes of the batch.
            batch: number of the batch; those before have the randomness of all their decisions.
        """
        self.whole, self._rows = whole, (first + np.arange(self.num_envs)) % whole
        self._random = np.random.default_rng(self._seed)
        for _ in range(batch):
            self._start()
            self.skip(self.scenario.max_steps)

    def skip(self, decisions: int) -> None:
        """Go on in the randomness as if that many decisions had been made."""
        for _ in range(decisions):
            self._step_draws()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Keep the randomness of later episodes independent of flights in this context."""
        kept = self._random.bit_generator.state
        yield
        self._random.bit_generator.state = kept

    def _draw(self, *shape: int) -> np.ndarray:
        drawn = self._random.random((self.whole, *shape[1:]), np.float32)
        return drawn if len(self._rows) == self.whole else drawn[self._rows]

    def _started(self, world: W) -> None:  # noqa: B027
        """Prepare the engine for a new episode; does nothing by default."""

    @abstractmethod
    def _start(self) -> W:
        """The start of E episodes, drawn."""

    @abstractmethod
    def _step_draws(self) -> np.ndarray:
        """[E, N, D] uniform random numbers of one decision."""

    @abstractmethod
    def _advance(self, world: W, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None) -> W:
        """One decision on this engine."""
