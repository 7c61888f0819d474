"""Run folders: the output of a training run, and how it is read back.

    config.json       the recipe (TrainConfig)         scenario.json   the scenario, whole
    run.json          seed, commit, versions           metrics.csv, tb/  the logs
    checkpoint.npz    the newest TrainState, whole     best.npz        the best policy by `mujoco` evaluation

A run folder appears whole or not at all; `storage.py` defines how states are written.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import numpy as np

from robomarl.core.bundle.provenance import Ancestor
from robomarl.core.config import UserError, build, to_dict
from robomarl.core.config.parsed import JsonObject
from robomarl.core.types import Figures, PhysicalAction
from robomarl.lab.evaluate.sealed_scenario import opened_from_folder, sealed
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.train.algorithm import training_env
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.networks import Networks, deterministic_policy
from robomarl.lab.train.polyak import deployed
from robomarl.lab.train.recipe_networks import networks_of
from robomarl.lab.train.run.ancestry import ANCESTRY, parse_ancestry
from robomarl.lab.train.run.mixture import PolicyFn, by_variant, games_of, variant_of, weights_for
from robomarl.lab.train.run.source import commit_of_checkout, versions
from robomarl.lab.train.run.storage import create_folder, json_text, load_state, read_about, read_json
from robomarl.lab.train.run.weights import weights_of
from robomarl.lab.train.sequences.play import playing
from robomarl.lab.train.stages.plan import is_staged
from robomarl.lab.train.stages.versions import renewed_run
from robomarl.lab.train.state import TrainState
from robomarl.lab.trees import Parts

if TYPE_CHECKING:
    from robomarl.core.bundle.bundle import Bundle

WEIGHTS_FILE = "weights.npz"
"""File in which a bundle keeps the weights for `--init`."""

LAW = "['law']."
"""How the names of gains begin among weights."""


@dataclass(frozen=True)
class ObservationStats:
    """Statistics of the actor's input in training, [O] each."""

    mean: np.ndarray
    std: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Run:
    """A run folder, read."""

    folder: Path
    scenario: Scenario
    config: TrainConfig
    seed: int
    commit: str
    versions: dict[str, str]
    state: TrainState
    """State as saved; arrays are numpy's."""
    averaged: tuple[str, ...] = ()
    """Names of other runs with weights in this mean; see `robomarl.lab.train.initial.average_runs`."""
    experts: "tuple[Run, ...]" = ()
    """Runs with actors that decide on other fields; see `robomarl.lab.train.run.mixture`."""
    ancestry: tuple[Ancestor, ...] = ()
    """Bundles that it goes on from."""

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name

    @cached_property
    def env(self) -> AgentsEnv:
        """The training environment."""
        return training_env(self.config, self.scenario)

    @property
    def init_carry(self) -> tuple[np.ndarray, ...]:
        """The policy's memory before the first action, one robot's; empty for feed-forward."""
        return _init_carry(self, ())

    @property
    def carry_names(self) -> tuple[str, ...]:
        """Return the name of each array of the memory."""
        own = len(self.networks.init_carry(()))
        return (*self.config.sequence.memory_names, *map(str, range(own)))

    @property
    def decision_hz(self) -> float:
        """Return the decisions per second; each is one action or a sequence of actions."""
        return self.scenario.rates.policy_hz / self.config.sequence.actions

    @property
    def params(self) -> Parts:
        """Flax parameters of the actor."""
        return deployed(self.state)

    @cached_property
    def networks(self) -> Networks:
        """The run's networks."""
        return networks_of(self.config, self.env)

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """Return the weights for fine-tuning: parameters of actor and critic, and all statistics, by path."""
        others = {f"{run.scenario.name}/{n}": value for run in self.experts for n, value in run.weights.items()}
        return weights_of(self.state) | others

    @property
    def observation_stats(self) -> ObservationStats:
        """Return the statistics of the actors' inputs in training."""
        s = self.state
        own = ObservationStats(*(np.asarray(a) for a in (s.obs_stats.mean, s.obs_stats.std, *s.obs_range)))
        return _of_all([own, *(run.observation_stats for run in self.experts)]) if self.experts else own

    @property
    def policy_fn(self) -> PolicyFn:
        """Return the deployed policy: (carry, obs [..., O]) -> (carry, action [..., A]), pure JAX."""
        if self.experts:
            runs = (replace(self, experts=()), *self.experts)
            policies = {variant_of(run.scenario): run.policy_fn for run in runs}
            return by_variant(policies, self.env.observation, games_of(self.scenario).observed_variant)
        decide = deterministic_policy(self.networks, self.params, self.state.obs_stats, self.env.action, self.env.law)
        return playing(self.config.sequence, decide)


def create_run(
    folder: Path, config: TrainConfig, scenario: Scenario, seed: int, ancestry: Sequence[Ancestor] = ()
) -> None:
    """Make a run folder that explains itself, whole or, where the process is killed, not at all.

    Raises:
        UserError: the folder exists and is not empty, or can't be made.
    """
    about = {"seed": seed, "commit": commit_of_checkout(), "versions": versions()}
    about |= {ANCESTRY: [to_dict(one) for one in ancestry]} if ancestry else {}
    texts = {"config.json": recipe_text(config)}
    content, files = sealed(scenario)
    texts |= {f"{name}.json": json_text(content) for name, content in (("scenario", content), ("run", about))}
    create_folder(folder, {**{name: text.encode() for name, text in texts.items()}, **files})


def recipe_text(config: TrainConfig) -> str:
    """Content of `config.json`."""
    return json_text(to_dict(config))


def load_recipe_of(folder: Path) -> tuple[TrainConfig, Scenario, Figures]:
    """Recipe, scenario and `run.json` of a run folder.

    Raises:
        UserError: not a run folder, or a damaged one.
    """
    if is_staged(folder):
        raise UserError(f"{folder} is of a training with stages; name the folder of a stage in it, or of its bundle.")
    if not (folder / "config.json").is_file():
        raise UserError(f"{folder} is not a run folder: it has no config.json; name a folder that `train --out` made.")
    scenario = opened_from_folder(read_json(folder / "scenario.json"), folder / "scenario.json")
    config = recipe_of(read_json(folder / "config.json"), scenario, str(folder / "config.json"))
    return config, scenario, read_about(folder / "run.json")


def recipe_of(content: JsonObject, scenario: Scenario, file: str) -> TrainConfig:
    """The recipe that a run folder or a bundle has kept; raises `UserError` where a key or value is wrong."""
    if "scenario" not in content:
        raise UserError(f"{file}: says no scenario, so it is not whole; the run folder is damaged.")
    return build(TrainConfig, renewed_run(content, scenario.period_s, file), file)


def load_run(folder: str | Path, file: str = "") -> Run:
    """Read a run folder.

    Args:
        folder: the run folder.
        file: which state; by default `best.npz` if there is one, else `checkpoint.npz`.

    Raises:
        UserError: not a run folder, or one without a checkpoint.
    """
    folder = Path(folder)
    config, scenario, about = load_recipe_of(folder)
    chosen = folder / (file or ("best.npz" if (folder / "best.npz").is_file() else "checkpoint.npz"))
    if not chosen.is_file():
        raise UserError(f"{folder} has no {chosen.name} yet: train longer, or name another run.")
    state = load_state(chosen, config, training_env(config, scenario))
    told = parse_ancestry(about, str(folder / "run.json"))
    return Run(folder, scenario, config, about["seed"], about["commit"], about["versions"], state, ancestry=told)


def _of_all(parts: Sequence[ObservationStats]) -> ObservationStats:
    """Return the statistics of all inputs together, if each part is equally frequent."""
    mean, std, low, high = (np.stack([getattr(part, f.name) for part in parts]) for f in fields(ObservationStats))
    return ObservationStats(mean.mean(0), np.sqrt((std**2).mean(0) + mean.var(0)), low.min(0), high.max(0))


def read_weights(source: str, scenario: str) -> Mapping[str, np.ndarray]:
    """The weights of a run folder or of a bundle, by name or path; of the bundle's actor for this scenario.

    Raises:
        UserError: neither of both, a bundle without weights, or one of a law with gains, which has no network.
    """
    if (Path(source) / "config.json").is_file():
        return load_run(source).weights
    from robomarl.core.bundle.bundle import load_bundle

    weights = sealed_weights(load_bundle(source), source)
    if gains_of(weights):
        raise UserError(f"--init {source}: it is a law with gains and has no network; train one with --imitate.")
    return weights_for(weights, scenario)


def sealed_weights(bundle: "Bundle", source: str) -> dict[str, np.ndarray]:
    """All that is in the weights of a bundle, which errors call `source`; raises `UserError` where it has none."""
    if WEIGHTS_FILE not in bundle.files:
        raise UserError(f"--init {source}: the bundle has no {WEIGHTS_FILE}; name a run folder instead.")
    from robomarl.core.bundle.bundle import POLICY_FILE
    from robomarl.lab.train.initial.weights_file import from_npz

    try:
        return from_npz(bundle.files[WEIGHTS_FILE], bundle.files[POLICY_FILE])
    except KeyError as missing:
        said = f"{WEIGHTS_FILE} names {missing}, which {POLICY_FILE} does not have"
        raise UserError(f"--init {source}: {said}; export the bundle anew.") from None


def gains_of(weights: Mapping[str, np.ndarray]) -> dict[str, float | np.ndarray]:
    """The gains of a law by name, numbers or layers of a network; empty where all weights are a network's."""
    named = {name.removeprefix(LAW): value for name, value in weights.items() if name.startswith(LAW)}
    return {name: value if np.ndim(value) else float(value) for name, value in named.items()}


def _init_carry(run: Run, batch: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    pending = run.config.sequence.init_memory(run.env.commanded.size, batch)
    return tuple(np.asarray(c) for c in (*pending, *run.networks.init_carry(batch)))


class RunPolicy:
    """A run's policy with the interface of a bundle's, for `eval`."""

    def __init__(self, run: Run) -> None:
        """Prepare the policy of a run; it is compiled once, for this state and for those of `with_state`."""
        self.name = run.name
        self.scenario_name = run.scenario.name
        self.vehicle_name = run.scenario.vehicle_config.name
        self.observation, self.action = run.env.observation, run.env.commanded
        spec, law, networks = run.env.action, run.env.law, run.networks
        self._run = run
        self._learned = run.params, run.state.obs_stats

        def act(learned: tuple, carry: tuple, obs: jax.Array) -> tuple[tuple, jax.Array]:
            params, stats = learned
            return playing(run.config.sequence, deterministic_policy(networks, params, stats, spec, law))(carry, obs)

        self._act = jax.jit(act)

    def with_state(self, state: TrainState) -> "RunPolicy":
        """Return the policy of another state of this run."""
        other = copy.copy(self)
        other._learned = deployed(state), state.obs_stats
        return other

    def reopening(self) -> "Callable[[], RunPolicy]":
        """Return a function that reads the run again from the path of its folder."""
        return partial(load_policy, self._run.folder.absolute())

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """Carry before the first decision; empty for feed-forward policies."""
        return _init_carry(self._run, batch)

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """(carry, obs [..., O]) -> (carry, action [..., A] in physical units)."""
        carry, action = self._act(self._learned, carry, obs)
        return carry, np.asarray(action).view(PhysicalAction)


def load_policy(folder: str | Path) -> RunPolicy:
    """The policy of a run folder; see `load_run` for the errors."""
    return RunPolicy(load_run(folder))
