"""Structured policies: a law with learned gains, exported directly, with no imitation in between.

The folder of such a run has `law.json`, the gains and the statistics of the observation, in place
of checkpoints. The policy sees the task's own observation, so that its bundle is like any other of
the task.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.bundle.provenance import Ancestor
from robomarl.core.config import UserError
from robomarl.core.spec import ObservationSpec
from robomarl.lab.evaluate.evaluation import Carry
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.law import GainedLaw, Gains, LawMemory, NetworkLaw, decided, memory_of
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.run.ancestry import parse_ancestry
from robomarl.lab.train.run.run_folder import LAW, ObservationStats, load_recipe_of
from robomarl.lab.train.run.storage import json_text, read_json, replace_text

FILE = "law.json"


def gained_law(scenario: Scenario, algorithm: str = "search") -> GainedLaw:
    """Return the law of the scenario's task, with gains that can be searched.

    Args:
        scenario: the scenario.
        algorithm: the recipe's, for the message.

    Raises:
        UserError: there is no law, or it has no gains.
    """
    imitated = simulation_of(scenario).imitated
    law = imitated and imitated.law(scenario)
    found = law(scenario) if law else None
    if not isinstance(found, GainedLaw):
        raise UserError(
            f'{scenario.name}.toml: algorithm = "{algorithm}" is for a law with gains, which task = {scenario.task!r} '
            'has not; use algorithm = "mappo".'
        )
    return found


def picker(whole: ObservationSpec, part: ObservationSpec) -> Callable[[jax.Array], jax.Array]:
    """Return a function that extracts the observation [..., P] of `part` from [..., O] of `whole`, which contains
    it.
    """
    names = whole.element_names()
    at = [names.index(name) for name in part.element_names()]
    cuts = [0, *(i for i in range(1, len(at)) if at[i] != at[i - 1] + 1), len(at)]
    runs = [(at[a], at[b - 1] + 1) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]
    return lambda obs: jnp.concatenate([obs[..., a:b] for a, b in runs], -1)


@dataclass(frozen=True)
class LawRun:
    """Run with a law as its policy; has the fields that `export` needs (`robomarl.lab.export.facts.Trained`)."""

    folder: Path
    scenario: Scenario
    config: TrainConfig
    seed: int
    commit: str
    versions: dict[str, str]
    gains: Gains
    observation_stats: ObservationStats
    averaged: tuple[str, ...] = ()
    experts: tuple = ()
    ancestry: tuple[Ancestor, ...] = ()

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """The gains by name; no training starts from them."""
        return {f"{LAW}{name}": np.asarray(value, np.float32) for name, value in self.gains._asdict().items()}

    @cached_property
    def policy_fn(self) -> Callable[[tuple, jax.Array], tuple[tuple, jax.Array]]:
        """(carry, obs [..., O]) -> (carry, action [..., A]), pure JAX."""
        law = gained_law(self.scenario).with_gains(self.gains)
        pick = picker(make_env(self.scenario).observation, law.observation)

        def policy(carry: tuple, obs: jax.Array) -> tuple[tuple, jax.Array]:
            carry, command = decided(law, carry, pick(obs))
            return carry, jnp.asarray(command)

        return policy

    @property
    def init_carry(self) -> LawMemory:
        """The law's memory of one robot before the first decision."""
        return memory_of(gained_law(self.scenario))


def save_law(folder: Path, gains: Gains, stats: ObservationStats) -> None:
    """Write `law.json`."""
    seen = {name: np.asarray(value, float).tolist() for name, value in asdict(stats).items()}
    numbers = {name: np.asarray(value, float).tolist() for name, value in gains._asdict().items()}
    replace_text(folder / FILE, json_text({"gains": numbers, "seen": seen}))


def is_law(folder: str | Path) -> bool:
    """Return True if the folder is of a run with a law as its policy."""
    return (Path(folder) / FILE).is_file()


def load_law(folder: str | Path) -> LawRun:
    """Read the folder; raises `UserError` where it is damaged."""
    folder = Path(folder)
    config, scenario, about = load_recipe_of(folder)
    content = read_json(folder / FILE)
    try:
        stats = ObservationStats(**{name: np.asarray(value, float) for name, value in content["seen"].items()})
        gains = read_gains(gained_law(scenario), content["gains"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{folder / FILE}: is not whole ({error}); the run folder is damaged.") from None
    told = (about["seed"], about["commit"], about["versions"])
    ancestry = parse_ancestry(about, str(folder / "run.json"))
    return LawRun(folder, scenario, config, *told, gains, stats, ancestry=ancestry)


def read_gains(law: GainedLaw, content: dict[str, float | list]) -> Gains:
    """Return gains from numbers, and layers of a network from lists; a gain without a name keeps its default.

    Raises:
        TypeError: a name is no gain of the law.
        ValueError: a gain is not finite, or has another shape than that of the law.
    """
    values = {name: np.asarray(value, float) for name, value in content.items()}
    if bad := [name for name, value in values.items() if not np.isfinite(value).all()]:
        raise ValueError(f"{bad[0]} is not finite")
    gains = type(law.gains)(**{name: v.astype(np.float32) if v.ndim else v.item() for name, v in values.items()})
    own = law.gains
    if isinstance(law, NetworkLaw) and any(np.shape(a) != np.shape(b) for a, b in zip(gains, own, strict=True)):
        own = law.with_network(0)
    for name, value, like in zip(gains._fields, gains, own, strict=True):
        if np.shape(value) != np.shape(like):
            raise ValueError(f"{name} has the shape {np.shape(value)} in place of {np.shape(like)}")
    return gains


class LawRunPolicy:
    """The run's policy as `eval` flies it."""

    def __init__(self, run: LawRun) -> None:
        """Compile nothing yet."""
        self.name, self.scenario_name = run.name, run.scenario.name
        self.vehicle_name = run.scenario.vehicle_config.name
        env = make_env(run.scenario)
        self.observation, self.action = env.observation, env.action
        self._act, self._law = jax.jit(run.policy_fn), gained_law(run.scenario)

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """Return the law's memory before the first decision."""
        return memory_of(self._law, batch)

    def __call__(self, carry: Carry, obs: np.ndarray) -> tuple[Carry, np.ndarray]:
        """(carry, obs [..., O]) -> (carry, action [..., A])."""
        carry, action = self._act(carry, obs)
        return tuple(map(np.asarray, carry)), np.asarray(action)
