"""The plants that vehicles are measured on: one vehicle alone on the `mujoco` engine of its scenario."""

from collections.abc import Sequence

import numpy as np

from robomarl.core.domain.scenario import needed
from robomarl.lab.plants.conditions import Condition
from robomarl.lab.plants.flight import Plant
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import Measured, simulation_of


def measured(scenario: Scenario) -> Measured:
    """How the scenario's vehicles are measured; raises `UserError` where they are not."""
    return needed(simulation_of(scenario).measured, scenario, "plant on which its vehicle could be measured")


def known_names(scenario: Scenario) -> tuple[str, ...]:
    """Parameters of the section `randomize` that change how a vehicle of the scenario follows its commands; the link's
    delay where the scenario's kind of team randomizes it."""
    link = ("delay_s",) if hasattr(scenario.randomize, "delay_s") else ()
    return (*measured(scenario).response_parameters(scenario), *link)


def make_plant(scenario: Scenario, flights: int, seed: int, threads: int = 1) -> Plant:
    """Return `flights` vehicles of the scenario, each alone; under a load, each with its share of the load."""
    return measured(scenario).plant(scenario, flights, seed, threads)


class Links:
    """The radio links of E vehicles: their delays may change at every decision."""

    def __init__(self, conditions: Sequence[Condition], dt_s: float, seed: int) -> None:
        """Remember the ranges.

        Args:
            conditions: [E].
            dt_s: the physics' step.
            seed: of delays that change.
        """
        self._ends = np.round(np.array([c.delays_s for c in conditions]).T / dt_s).astype(np.int32)
        self._random = np.random.default_rng(seed)

    @property
    def longest(self) -> int:
        """Sub-steps."""
        return int(self._ends.max())

    def draw(self) -> np.ndarray:
        """[E, 1] sub-steps."""
        return self._random.integers(self._ends[0], self._ends[1] + 1)[:, None].astype(np.int32)


def values(conditions: Sequence[Condition], defaults: dict[str, float]) -> dict[str, np.ndarray]:
    """[E, 1] of each parameter."""
    return {name: np.array([[c.get(name, d)] for c in conditions], np.float32) for name, d in defaults.items()}
