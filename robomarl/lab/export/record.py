"""Contract of a run, and golden sequences recorded in its training environments."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple, Protocol

import jax
import numpy as np

from robomarl import __version__
from robomarl.core.bundle.contract import (
    SCHEMA_VERSION,
    Carry,
    Contract,
    Element,
    Observation,
    Seen,
    conditions,
    describe,
)
from robomarl.core.bundle.provenance import Expert, Source, Training, source_of
from robomarl.core.config import IsDataclass
from robomarl.core.filter.filter import SafetyParams
from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.core.view import LocalView
from robomarl.lab.evaluate.sealed_scenario import sealed
from robomarl.lab.sim.agents import AgentsEnv, State
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.trees import Tree

SEQUENCES, STEPS = 2, 75
"""Number of sequences recorded in each environment, and decisions of each sequence; equal for equal runs."""
GAP_PERIODS = 5
"""Decisions that may fail to come before every memory starts again."""


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


class Recorded(NamedTuple):
    """[S, T, N, ...] each."""

    views: LocalView
    obs: np.ndarray
    action: np.ndarray


def carry_shapes(run: Trained) -> dict[str, tuple[int, ...]]:
    """Shapes of the policy's memory by name, without batch; a recurrent run has `init_carry`, arrays of zeros, and
    where they are called otherwise than by number `carry_names`."""
    carry = getattr(run, "init_carry", ())
    names = getattr(run, "carry_names", tuple(map(str, range(len(carry)))))
    return {name: np.shape(c) for name, c in zip(names, carry, strict=True)}


def observation_of(run: Trained, env: AgentsEnv) -> ObservationSpec:
    """Return the run's own observation if it declares one, else the environment's."""
    return getattr(run, "observation", env.observation)


def record(run: Trained) -> Recorded:
    """Fly the whole team in every training environment, randomization on, each sequence from a fresh reset."""
    return together([_recorded(run, scenario) for scenario in scenarios(run)])


def scenarios(run: Trained) -> list[Scenario]:
    """Return the scenarios in which the run's actors were trained."""
    return [run.scenario, *(other.scenario for other in run.experts)]


def together(parts: Sequence[Recorded]) -> Recorded:
    """Sequences of several environments: as many robots of each as the smallest team has, and rows for all others.

    Rows that a smaller team has no use for are masked: they are 0.
    """
    robots = min(part.obs.shape[2] for part in parts)

    def join(*leaves: np.ndarray) -> np.ndarray:
        cut = [leaf[:, :, :robots] for leaf in leaves]
        shape = np.max([leaf.shape[3:] for leaf in cut], 0).astype(int)
        room = [[(0, 0)] * 3 + [(0, n - have) for n, have in zip(shape, leaf.shape[3:], strict=True)] for leaf in cut]
        return np.concatenate([np.pad(leaf, pad) for leaf, pad in zip(cut, room, strict=True)])

    return jax.tree.map(join, *parts)


def _recorded(run: Trained, scenario: Scenario) -> Recorded:
    env, policy, shapes = make_env(scenario), run.policy_fn, carry_shapes(run)
    seen = observation_of(run, env)

    def decide(now: tuple, _: None) -> tuple[tuple, tuple]:
        state, memory, carry = now
        views = env.views(_world(state))
        memory, obs = seen.observe(memory, views)
        carry, action = policy(carry, obs)
        return (env.step(state, action), memory, carry), (views, obs, action)

    def sequence(key: jax.Array) -> tuple:
        state = env.reset(key)
        views = env.views(_world(state))
        carry = tuple(jax.numpy.zeros((env.num_agents, *shape)) for shape in shapes.values())
        return jax.lax.scan(decide, (state, seen.init(views), carry), None, length=STEPS)[1]

    with jax.default_matmul_precision("highest"):
        result = jax.jit(jax.vmap(sequence))(jax.random.split(jax.random.key(0), SEQUENCES))
    return Recorded(*jax.tree.map(np.asarray, result))


def _world(state: State) -> Tree:
    return state.pipeline_state.world  # type: ignore[union-attr]


def contract_of(run: Trained, name: str, team_size: tuple[int, int] | None = None) -> Contract:
    """Return the contract of a run, still without its files.

    Args:
        run: the trained run.
        name: name of the bundle.
        team_size: least and largest team; by default exactly the scenario's.
    """
    scenario, env = run.scenario, make_env(run.scenario)
    seen = observation_of(run, env)
    team = team_size or (scenario.count, scenario.count)
    safety = safety_params(scenario, team[0])
    source = _source(scenario)
    return Contract(
        schema_version=SCHEMA_VERSION,
        name=name,
        observation=_observation(seen, run.observation_stats, safety),
        action=ActionSpec(env.commanded.fields),
        rate_hz=scenario.rates.policy_hz,
        decision_hz=getattr(run, "decision_hz", scenario.rates.policy_hz),
        team_size=team,
        carries=_carries(run, seen, safety),
        scenario=source,
        vehicle=_vehicle(scenario),
        safety=safety,
        training=_training(run),
        files={},
        roles=simulation_of(scenario).roles(scenario, team[1]),
        experts=tuple(Expert(_source(e.scenario), _training(e)) for e in run.experts),
        **conditions(source.content),
    )


def _training(run: Trained) -> Training:
    recipe, ancestry = source_of("recipe", run.config).content, getattr(run, "ancestry", ())
    return Training(recipe, run.seed, run.commit, _versions(run), run.averaged, ancestry)


def actions_seen(action: np.ndarray) -> tuple[Seen, ...]:
    """Return least, largest, mean and standard deviation of every element of recorded actions [..., A]."""
    flat = action.reshape(-1, action.shape[-1]).astype(np.float64)
    stats = zip(flat.min(0), flat.max(0), flat.mean(0), flat.std(0), strict=True)
    return tuple(Seen(*map(float, row)) for row in stats)


def _observation(spec: ObservationSpec, stats: Stats, safety: SafetyParams) -> Observation:
    own_age_s = safety.safety.delay_s + safety.period_s
    elements = []
    for i, (name, unit, frame, feature) in enumerate(describe(spec)):
        age = spec.neighbours.max_age_s if feature.per_neighbour else own_age_s
        ages = any(path.startswith(("own.", "heard.", "sensed.")) for path in feature.reads)
        low, high, mean, std = (float(a[i]) for a in (stats.low, stats.high, stats.mean, stats.std))
        elements.append(Element(name, unit, frame, low, high, mean, std, age if ages else None))
    return Observation(spec, tuple(elements), tuple(sorted(spec.reads)))


def _carries(run: Trained, spec: ObservationSpec, safety: SafetyParams) -> tuple[Carry, ...]:
    gap_s = GAP_PERIODS * safety.period_s
    shapes = [("observation", name, shape) for name, shape in spec.memory_shapes]
    shapes += [("policy", *row) for row in carry_shapes(run).items()]
    shapes.append(("safety", "commands", (safety.queue_length, 4)))
    return tuple(Carry(owner, name, tuple(map(int, shape)), max_gap_s=gap_s) for owner, name, shape in shapes)  # type: ignore[arg-type]


def _source(scenario: Scenario) -> Source:
    return source_of(scenario.name, sealed(scenario).content)


def _vehicle(scenario: Scenario) -> Source:
    return source_of(scenario.vehicle_config.name, scenario.vehicle_config)


def _versions(run: Trained) -> dict[str, str]:
    here = {name: version(name) for name in ("jax", "onnx", "onnxruntime", "numpy")} | {"robomarl": __version__}
    return {**here, **getattr(run, "versions", {})}
