"""Untrained controllers, for imitation by a policy or for a search of their gains."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from robomarl.core.bundle.pilot import Observer
from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.core.types import Array
from robomarl.lab.sim.scenario import Scenario

Gains = Any
"""Gains of a law: its own NamedTuple of numbers, or of arrays with one entry for each that is tried."""


class Law(Protocol):
    """A decentralized controller that is not trained."""

    @property
    def observation(self) -> Observer:
        """Observation that the controller reads from the view."""
        ...

    def act(self, obs: Array, /) -> Array:
        """Observation [..., O] to command [..., A]."""
        ...


class FlownLaw:
    """A law with the interface of a trained policy: `robomarl eval baseline` flies it."""

    def __init__(self, scenario: Scenario, law: Law, action: ActionSpec, name: str = "baseline") -> None:
        """Store the arguments.

        Args:
            scenario: scenario of the flights.
            law: the controller.
            action: its commands.
            name: name of the policy, in tables.
        """
        self.name, self.scenario_name, self.vehicle_name = name, scenario.name, scenario.vehicle_config.name
        self.action, self.observation, self._law = action, law.observation, law

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """Return the law's memory before the first decision."""
        return memory_of(self._law, batch)

    def __call__(self, carry: tuple, obs: Array) -> tuple[tuple, Array]:
        """(memory, observations [..., O]) -> (memory, commands [..., A])."""
        carry, command = decided(self._law, carry, obs)
        return carry, command.astype(np.float32)


class FirstLaw(Law, Protocol):
    """A law for the first elements of an action; a policy learns the remaining ones."""

    @property
    def observation(self) -> ObservationSpec:
        """Observation that the controller reads from the view."""
        ...

    count: int
    """How many."""


@runtime_checkable
class GainedLaw(Law, Protocol):
    """A law with gains that can be searched: NamedTuples of numbers, all of one type."""

    @property
    def observation(self) -> ObservationSpec:
        """Observation that the controller reads from the view."""
        ...

    gains: Gains
    search_from: Gains
    """Gains at the start of a search."""

    @property
    def search_step(self) -> Gains:
        """Return the size of a step of 1 in the search; gains with 0 keep their start value."""
        ...

    search_least: Gains
    """Least values."""

    def with_gains(self, gains: Gains) -> "GainedLaw":
        """Return this law with other gains; arrays that broadcast with its inputs are allowed."""
        ...


@runtime_checkable
class NetworkLaw(GainedLaw, Protocol):
    """A law with a network, whose layers are the last gains: arrays, or () without a network."""

    def with_gains(self, gains: Gains) -> "NetworkLaw":
        """Return this law with other gains."""
        ...

    def with_network(self, seed: int) -> Gains:
        """Return the gains with a new network, which does not change the commands yet."""
        ...


def numbers_of(gains: Gains) -> np.ndarray:
    """[G] the gains that are numbers; layers of a network, which come after them, are left out."""
    return np.array([value for value in gains if np.ndim(value) == 0], float)


@runtime_checkable
class RememberingLaw(GainedLaw, Protocol):
    """A law that passes numbers of its own from one decision to the next; they are 0 at the start."""

    memory_size: int
    """M, how many."""

    def decide(self, memory: Array, obs: Array, /) -> tuple[Array, Array]:
        """(memory [..., M], observation [..., O]) -> (memory [..., M], command [..., A])."""
        ...


LawMemory = tuple[Array, ...]
"""() for a law without memory, else one array [..., M]."""


def memory_of(law: Law, batch: tuple[int, ...] = ()) -> LawMemory:
    """Return the memory of a law before its first decision, for leading axes `batch`."""
    return (np.zeros((*batch, law.memory_size), np.float32),) if isinstance(law, RememberingLaw) else ()


def decided(law: Law, memory: LawMemory, obs: Array) -> tuple[LawMemory, Array]:
    """(law, memory, observation [..., O]) -> (memory, command [..., A]), of laws with and without memory."""
    if not isinstance(law, RememberingLaw):
        return memory, law.act(obs)
    after, command = law.decide(memory[0], obs)
    return (after,), command


WIDEST = 0.98
"""Sine of the largest angle between an arc and the straight line to the goal."""


class ArcPace(NamedTuple):
    """Arcs, and the speed along them."""

    radius_m: float
    """Radius of the arcs, half of the longest way straight on."""
    cruise_m_s: float
    """Largest speed."""
    slope_per_s: float
    """Speed over distance, near the goal."""


def keep_right(error_m: np.ndarray, pace: ArcPace) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities [..., 3] along arcs to the goal, counter-clockwise from above, and the accelerations that bend.

    Robots that fly straight across a ring meet in its middle, and a safety filter lets one after the other through. On
    arcs of one radius R they keep their distances, so that it has little to do, however wide its margins are. The
    tangent of a circle of this radius through robot and goal leaves the straight line, of length d, by asin(d / 2R),
    but by no more than 78 degrees: at a right angle a robot would circle its goal for ever.

    Args:
        error_m: [..., 3] from the robots to their goals.
        pace: radius and speed.
    """
    distance = np.maximum(np.linalg.norm(error_m[..., :2], axis=-1, keepdims=True), 1e-6)
    half = np.minimum(distance / (2 * pace.radius_m), WIDEST)
    ahead, cosine = error_m[..., :2] / distance, np.sqrt(1 - half**2)
    left = np.stack([-ahead[..., 1], ahead[..., 0]], -1)
    speed = np.minimum(pace.cruise_m_s, pace.slope_per_s * distance)
    climb = np.clip(pace.slope_per_s * error_m[..., 2:], -pace.cruise_m_s, pace.cruise_m_s)
    bend = speed**2 / pace.radius_m * (half * ahead + cosine * left)
    return np.concatenate([speed * (cosine * ahead - half * left), climb], -1), np.concatenate([bend, 0 * climb], -1)
