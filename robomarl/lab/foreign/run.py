"""A foreign policy in the form that export accepts: a run that was trained elsewhere."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import jax
import numpy as np

from robomarl.core.spec import ObservationSpec
from robomarl.core.types import Figures
from robomarl.lab.export.record import Recorded
from robomarl.lab.sim.scenario import Scenario


@dataclass(frozen=True)
class ImportRecipe:
    """Stands in the bundle where others have their recipe."""

    algorithm: str
    """Layout of the trainer, if the contract names it, and the name of the imported file."""
    file: str
    file_sha256: str
    contract: Figures
    """The whole contract.toml."""
    framework: str
    """Framework against which parity was shown."""


@dataclass(frozen=True)
class SeenStats:
    """Statistics [O] of the observation in the golden flights; those of training are not known here."""

    mean: np.ndarray
    std: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class ImportedRun:
    """See `robomarl.lab.export.facts.Trained`."""

    name: str
    scenario: Scenario
    config: ImportRecipe
    observation: ObservationSpec
    policy_fn: Callable[[tuple, jax.Array], tuple[tuple, jax.Array]]
    init_carry: tuple[np.ndarray, ...]
    observation_stats: SeenStats
    seed: int = 0
    commit: str = "unknown"
    averaged: tuple[str, ...] = ()
    experts: tuple = ()

    @property
    def weights(self) -> Mapping[str, np.ndarray]:
        """Return no weights: training can't continue from a policy that it did not make."""
        return {}


def stats_of(recorded: Recorded) -> SeenStats:
    """Return the statistics of the observations in recorded flights."""
    flat = recorded.obs.reshape(-1, recorded.obs.shape[-1]).astype(np.float64)
    return SeenStats(flat.mean(0), flat.std(0), flat.min(0), flat.max(0))
