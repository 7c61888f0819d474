"""`Facts`: a run, and values that an export derives from it before it computes anything."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, Protocol

import jax
import numpy as np

from robomarl import __version__
from robomarl.core.bundle.provenance import Expert, Source, Training, canonical, sha256_of
from robomarl.core.config import IsDataclass, UserError
from robomarl.core.domain.onboard import Command
from robomarl.core.domain.registry import command_of
from robomarl.core.filter.params import SafetyParams
from robomarl.core.spec import ObservationSpec
from robomarl.lab.evaluate.sealed_scenario import VEHICLE, sealed
from robomarl.lab.on_robots import check_on_robots
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of


class Stats(Protocol):
    """Statistics of the network's input in training, [O] each."""

    @property
    def mean(self) -> np.ndarray: ...  # noqa: D102
    @property
    def std(self) -> np.ndarray: ...  # noqa: D102
    @property
    def low(self) -> np.ndarray: ...  # noqa: D102
    @property
    def high(self) -> np.ndarray: ...  # noqa: D102


class Trained(Protocol):
    """Interface of a run for export (`robomarl.lab.train.run.run_folder.Run` has it)."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def scenario(self) -> Scenario: ...  # noqa: D102
    @property
    def config(self) -> IsDataclass:
        """The recipe, a dataclass."""
        ...

    @property
    def seed(self) -> int: ...  # noqa: D102
    @property
    def commit(self) -> str: ...  # noqa: D102
    @property
    def averaged(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def experts(self) -> "Sequence[Trained]":
        """Additional runs: `policy_fn` contains the actor of each, for its scenario."""
        ...

    @property
    def observation_stats(self) -> Stats: ...  # noqa: D102
    @property
    def weights(self) -> Mapping[str, np.ndarray]:
        """Parameters and statistics by name, for fine-tuning."""
        ...

    @property
    def policy_fn(self) -> Callable[[tuple, jax.Array], tuple[tuple, jax.Array]]:
        """(carry, obs [..., O]) -> (carry, action [..., A]): pure, parameters closed over."""
        ...


class Origin(NamedTuple):
    """Origin of a run."""

    scenario: Source
    vehicle: Source
    training: Training
    experts: tuple[Expert, ...]
    """Origins of its other actors."""
    files: Mapping[str, bytes]
    """Files that the scenarios name by path and that `eval` opens, without the vehicle."""


@dataclass(frozen=True)
class Facts:
    """A run, and values that follow from its scenarios: its own first, then those of its experts."""

    run: Trained
    envs: tuple[AgentsEnv, ...]
    """Environments of the scenarios."""
    observations: tuple[ObservationSpec, ...]
    """Observation in each: the run's own if it declares one, else the environment's."""
    memory: Mapping[str, tuple[int, ...]]
    """Shapes of the policy's memory by name, without batch."""
    team_size: tuple[int, int]
    """Least and largest team."""
    safety: SafetyParams
    """Parameters of the filter, for the least team."""
    command: Command
    """Kind of its commands."""
    origin: Origin


def facts_of(run: Trained, team_size: tuple[int, int] | None = None) -> Facts:
    """Return the facts of a run.

    Args:
        run: the trained run.
        team_size: least and largest team; by default exactly the scenario's.

    Raises:
        UserError: a file of its scenarios can't be read or differs between them, the run's team sees everything, as no
            robot does, a robot lacks one of its features, or the run was stopped before its first update.
    """
    own, origin = run.scenario, _origin_of(run)
    if key := simulation_of(own).all_seeing(own):
        raise UserError(
            f"{run.name}: was trained with {key}, and a robot can't see everything; train it in a scenario "
            "without that key."
        )
    stats = run.observation_stats
    if not all(np.isfinite(part).all() for part in (stats.low, stats.high, stats.mean, stats.std)):
        raise UserError(f"{run.name}: was stopped before its first update: there is nothing to export; train longer.")
    # A recurrent run has `init_carry`, and names for its arrays where they are called otherwise than by number.
    carry = getattr(run, "init_carry", ())
    names = getattr(run, "carry_names", tuple(map(str, range(len(carry)))))
    team = team_size or (own.count, own.count)
    envs = tuple(make_env(scenario) for scenario in (own, *(other.scenario for other in run.experts)))
    command = command_of(envs[0].commanded)
    check_on_robots(envs[0].observation, own.task)
    return Facts(
        run,
        envs,
        tuple(getattr(run, "observation", env.observation) for env in envs),
        {name: np.shape(c) for name, c in zip(names, carry, strict=True)},
        team,
        safety_params(own, team[0]),
        command,
        origin,
    )


def _origin_of(run: Trained) -> Origin:
    """Return the origin of a run.

    Raises:
        UserError: the experts' scenarios name files that differ from the run's own; there is room for
            one of each. Or a file can't be read.
    """
    runs = (run, *run.experts)
    written = [sealed(each.scenario) for each in runs]
    files = written[0].files
    if any(other.files != files for other in written[1:]):
        raise UserError(f"{run.name}: its scenarios name different files; train its actors with the same ones.")
    named = [(run.scenario.vehicle_config.name, run.scenario.vehicle_config)]
    named += [(each.scenario.name, scenario.content) for each, scenario in zip(runs, written, strict=True)]
    named += [("recipe", each.config) for each in runs]
    vehicle, *sources = (source_of(name, content) for name, content in named)
    scenarios, recipes = sources[: len(runs)], sources[len(runs) :]
    trainings = [_training_of(each, recipe.content) for each, recipe in zip(runs, recipes, strict=True)]
    experts = tuple(map(Expert, scenarios[1:], trainings[1:]))
    kept = {name: content for name, content in files.items() if Path(name).stem != VEHICLE}
    return Origin(scenarios[0], vehicle, trainings[0], experts, kept)


def _training_of(run: Trained, recipe: dict[str, object]) -> Training:
    here = {name: version(name) for name in ("jax", "onnx", "onnxruntime", "numpy")} | {"robomarl": __version__}
    versions = {**here, **getattr(run, "versions", {})}
    return Training(recipe, run.seed, run.commit, versions, run.averaged, getattr(run, "ancestry", ()))


def source_of(name: str, content: object) -> Source:
    """A file's content with its hash."""
    plain = json.loads(canonical(content))
    return Source(name, sha256_of(plain), plain)
