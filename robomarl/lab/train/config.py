"""`TrainConfig`: everything that decides a training run but the scenario. A recipe file is one of these."""

import math
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from robomarl.core.config import (
    Count,
    Fraction,
    Natural,
    NonNegative,
    Positive,
    Range,
    Seed,
    UserError,
    build,
    convert,
    suggest,
)
from robomarl.core.config.parsed import JsonObject
from robomarl.core.paths import share_dir
from robomarl.core.tables import read_toml
from robomarl.lab.sim.starts import Starts
from robomarl.lab.train.offline.config import OfflineConfig
from robomarl.lab.train.reppo.config import ReppoConfig
from robomarl.lab.train.sequences.play import SequenceConfig
from robomarl.lab.train.stages.versions import renewed

BESIDE = ("seed", "stage", "bundle")
"""Keys of a recipe file that are no keys of `TrainConfig`."""


@dataclass(frozen=True)
class NetworkConfig:
    """Actor and critic."""

    actor_hidden: tuple[Count, ...] = (64, 64)
    """Width of the actor's hidden layers."""
    critic_hidden: tuple[Count, ...] = (64, 64)
    """Width of the critic's hidden layers."""
    critic: Literal["robot", "team"] = "robot"
    """robot: one value at a time, from the state as seen by that robot; team: all values at once, one output per
    robot.
    """
    activation: Literal["tanh", "elu", "relu"] = "tanh"
    """Activation between the layers."""
    encoder: Literal["flat", "attention", "graph"] = "flat"
    """flat: the whole observation at once; attention: over the neighbours, in any order; graph: attention with
    several heads over the present neighbours only, for any number of rows.
    """
    heads: Count = 4
    """Number of heads of the graph encoder; they share the first of `actor_hidden`."""
    memory: Literal["none", "gru"] = "none"
    """gru: a recurrent state (Cho et al., 2014), explicit in the rollout and in the ONNX graph."""
    gru_size: Count = 64
    """Width of that state."""
    roles: Count = 1
    """Sets of the actor's parameters: 1, shared by all robots; R, one for each of the roles 0 to R - 1."""

    def __post_init__(self) -> None:
        """Check that there are hidden layers, and that `heads` divides the first width of a graph encoder."""
        if not (self.actor_hidden and self.critic_hidden):
            raise ValueError("actor_hidden and critic_hidden need a layer each at least; write its width, as in [64].")
        if self.encoder == "graph" and self.actor_hidden[0] % self.heads:
            raise ValueError(f"heads = {self.heads} must divide the first of actor_hidden = {self.actor_hidden[0]}.")


@dataclass(frozen=True)
class NoiseConfig:
    """Exploration noise of the squashed Gaussian, before the squash."""

    start_std: Positive = 0.6
    """Standard deviation of an untrained policy."""
    floor_std: NonNegative = 0.25
    """Least standard deviation at the start of training ..."""
    final_floor_std: NonNegative = 0.1
    """... and at its end; in between it falls linearly with the steps."""
    scale: tuple[Positive, ...] = ()
    """Factor on `start_std`, `floor_std` and `final_floor_std` for each component of the command, in its order;
    none: 1 for all. If one component tolerates little noise (a yaw rate that determines the aim), the rest need
    not go without.
    """
    correlation: Annotated[float, Range(0.0, 0.999)] = 0.0
    """Correlation of the noise from one decision to the next: lasting noise moves a robot farther (Hollenstein et
    al., AAAI 2024).
    """


@dataclass(frozen=True)
class Lesson:
    """One parameter of the scenario that changes while the training goes on: a part of the curriculum."""

    parameter: str
    """Dotted name of a parameter of the episodes' start, as in `start.jitter_m` or `randomize.packet_loss`."""
    begin: float | tuple[float, float]
    """Its value at first ..."""
    end: float | tuple[float, float]
    """... and at last; in between it goes linearly with the lesson's level, from 0 to 1."""
    over: Annotated[float, Range(1e-6, 1.0)] = 0.5
    """The level reaches 1 after this share of `total_steps`."""
    success: Fraction | None = None
    """If set, the level follows success instead: it rises by `rise` with every update of at least this success rate."""
    rise: Annotated[float, Range(1e-6, 1.0)] = 0.02
    """Increase of the level at a time; see `success`."""

    def __post_init__(self) -> None:
        """Check that `begin` and `end` are both numbers or both intervals."""
        if isinstance(self.begin, tuple) != isinstance(self.end, tuple):
            raise ValueError(f"begin and end of {self.parameter} must both be numbers or both be [low, high].")


@dataclass(frozen=True)
class SelfPlayConfig:
    """Games: opponents in training, each on a part of the batch; all parts are of equal size."""

    scripts: tuple[str, ...] = ()
    """Scripted teams of the domain. One that is named twice plays twice as much."""
    script_parts: Count = 3
    """Number of equal parts of the batch that play against each scripted team."""
    itself: Natural = 2
    """Number of parts in which the learner plays against itself."""
    snapshots: Natural = 8
    """Parts in which it is an earlier snapshot."""
    pool: Count = 12
    """Snapshots that are kept."""
    snapshot_every: Count = 40
    """Updates from one snapshot to the next; then opponents are drawn again."""
    teams: tuple[str, ...] = ()
    """Trained opponents that never change: bundles or run folders with the run's network architecture, each on a part
    of the batch. One that is named twice plays twice as much.
    """
    teacher: str = ""
    """Script, or bundle or run folder with the run's network architecture, that the policy imitates at first."""
    teachers: dict[str, str] = field(default_factory=dict)
    """Teacher that replaces `teacher` in the scenario of this name, among those that take turns."""
    teach_share: Fraction = 0.0
    """For this share of `total_steps`."""
    starts: Starts = Starts()
    """How episodes start."""
    rally_s: Positive | None = None
    """They end at a goal or after this time; by default after the scenario's `rules.rally_s`."""
    goes_on: bool = False
    """True if the critic's value counts after a time-out, because the rally goes on in a match; otherwise nothing
    counts.
    """
    also: tuple[str, ...] = ()
    """Scenarios that take turns with the run's own, an update of each: one actor learns all. Agent-steps are of all."""


@dataclass(frozen=True)
class SearchConfig:
    """Settings of `algorithm = "search"`: CMA-ES over the gains of the task's law. Of `algorithm = "gradient"` it has
    `start` alone."""

    candidates: Count = 32
    """Number of sets of gains in a generation; each set flies `num_envs` / `candidates` episodes, identical for all
    sets.
    """
    first_std: Positive = 0.3
    """Standard deviation of the first generation, over the gains of the law."""
    start: dict[str, float] = field(default_factory=dict)
    """Gains at the start of the search, or beside the network of `gradient`, by name; the law defines those that are
    not named. Only gains that are numbers have a name here."""
    exact_per_s: NonNegative = 3.0
    """Reward per second exactly at the goal, beside the task's reward; it falls exponentially with distance and
    angle.
    """
    exact_m: Positive = 0.025
    """Distance [m] to the goal at which the reward `exact_per_s` has fallen to 1/e."""
    exact_rad: Positive = 0.2
    """Angle [rad] to the goal at which the reward `exact_per_s` has fallen to 1/e."""
    late_per_s: NonNegative = 0.0
    """Cost of a second in which the team has not arrived."""
    steps: dict[str, float] = field(default_factory=dict)
    """Steps of gains by name, instead of the law's; a gain with a step of 0 is not searched."""
    steps_alone: bool = False
    """Only gains that `steps` names are searched."""
    opponents: Literal["first", "itself"] = "first"
    """Gains of the other team in games. first: the law's own, without the filter, and our robots' rewards count;
    itself: those of our team, and all robots' rewards count."""
    teams: tuple[str, ...] = ()
    """Run folders of searches whose gains the other team has, drawn anew for each episode, or first: the law's own. A
    team that is named twice plays twice as much. None: as `opponents` says."""

    def __post_init__(self) -> None:
        """Check that no step is negative, and that `steps_alone` leaves a gain to search."""
        if below := [f"{name} = {step:g}" for name, step in self.steps.items() if step < 0]:
            raise ValueError(f"steps has {below[0]}, and a step is no less than 0; a gain with 0 is not searched.")
        if self.steps_alone and not any(self.steps.values()):
            raise ValueError(
                "steps_alone = true searches the gains of steps alone, which names none with a step above 0; name one, "
                "or leave steps_alone out."
            )


OFFLINE = ("bc", "td3_bc", "iql")
"""Algorithms that learn from a data set only."""


@dataclass(frozen=True)
class ImitationConfig:
    """Settings of `robomarl train --imitate`, see `robomarl.lab.train.imitation`."""

    rounds: Count = 5
    """Episodes of each team; the policy flies none of the first, and all of the last."""
    sizes: tuple[Count, ...] = ()
    """Robots in the teams, all of which fly in every round; none: as many as in the scenario."""


@dataclass(frozen=True)
class TrainConfig:
    """One training run of MAPPO (Yu et al., NeurIPS 2022), IPPO, SHAC, REPPO or PQN, one search, or one fit to data."""

    version: Literal[2] = 2
    """Version of the file's layout; files of version 1 are read too."""
    scenario: str = "swap_4"
    """Scenario of the training."""
    algorithm: Literal["mappo", "ippo", "shac", "reppo", "pqn", "search", "gradient", "bc", "td3_bc", "iql"] = "mappo"
    """mappo: the critic sees the privileged state; ippo: only the robot's own observation; shac: the gradient of the
    engine itself, see `robomarl.lab.train.shac`; reppo: the slope of a critic of actions, see
    `robomarl.lab.train.reppo.learner`; pqn: Q-learning over discrete actions, see `robomarl.lab.train.pqn.learner`;
    search: no critic, the gains of the task's law are searched, see `robomarl.lab.train.policy_search.search`;
    gradient: the engine's gradient trains the network of the task's law, see
    `robomarl.lab.train.policy_search.gradient`; bc, td3_bc, iql: from a data set, see `robomarl.lab.train.offline`."""
    total_steps: Count = 60_000_000
    """Agent-steps of the whole run; schedules end here."""
    stop_after: Count | None = None
    """The run stops after this many agent-steps, before its schedules end; by default where they end."""
    num_envs: Count = 1024
    """Teams that are simulated at once."""
    unroll: Count = 32
    """Decisions per rollout."""
    epochs: Count = 4
    """Passes over each rollout."""
    minibatches: Count = 8
    """Gradient steps per pass; must divide `num_envs`."""
    value_horizon_s: Positive = 2.0
    """Time constant [s] of the discount: gamma = exp(-period / value_horizon_s). Later rewards count less."""
    credit_s: Positive = 0.39
    """Time constant [s] of generalized advantage estimation: lambda = exp(-period / credit_s) (Schulman et al.,
    2016). Effects of an action within this time are seen in the rewards themselves, later ones only in the
    critic's values.
    """
    clip: Positive = 0.2
    """Clipping of the probability ratio."""
    entropy_cost: NonNegative = 0.0002
    """Weight of the policy's entropy in the loss: how much exploring is rewarded."""
    value_cost: NonNegative = 0.5
    """Weight of the critic's error (Huber) in the loss."""
    change_cost: NonNegative = 0.0
    """Weight of the squared change of the policy's mean action between consecutive decisions: a calm policy at any
    noise.
    """
    stay_cost: NonNegative = 0.0
    """Weight of the KL divergence from the policy that the run began from in the loss, of mappo and ippo only."""
    learning_rate: Positive = 1e-3
    """Learning rate of Adam, at the start."""
    top_learning_rate: Positive | None = None
    """It may grow to this where the policy moves less than half of `target_kl`; by default to `learning_rate` only."""
    critic_learning_rate: Positive | None = None
    """Learning rate of the critic, in mappo and ippo; by default the actor's, which falls if the policy moves too
    much.
    """
    target_kl: Positive = 0.012
    """The learning rate shrinks where an update moves the policy by more than twice this KL divergence, at first ..."""
    final_target_kl: Positive = 0.002
    """... and by more than twice this one at last; in between it falls linearly with the steps."""
    critic_first: NonNegative = 0.0
    """Agent-steps at the start in which only the critic learns: one that knows nothing yet would spoil a good actor."""
    average_over: NonNegative = 0.0
    """If not 0, the mean of the actor's weights over about this many updates is deployed; see
    `robomarl.lab.train.polyak`.
    """
    max_grad_norm: Positive = 1.0
    """Larger gradients are scaled down to this norm."""
    share_results: bool | None = None
    """True if XLA computes shared parts of several loop results once; by default wherever this is known to compile,
    which is neither through the gradient of shac, nor behind the certificate, nor in games: see
    `robomarl.lab.sim.engines.compiler`.
    """
    network: NetworkConfig = NetworkConfig()
    sequence: SequenceConfig = SequenceConfig()
    """Settings of action sequences, in which decisions are rarer than actions."""
    noise: NoiseConfig = NoiseConfig()
    filter: Literal["off", "qp", "upright", "certificate"] = "off"
    """qp: the safety filter stands between policy and vehicle in training too; upright: once a thrown one is so;
    certificate: the certificate does."""
    search: SearchConfig = SearchConfig()
    reppo: ReppoConfig = ReppoConfig()
    imitation: ImitationConfig = ImitationConfig()
    offline: OfflineConfig = OfflineConfig()
    self_play: SelfPlayConfig = SelfPlayConfig()
    """Settings of games."""
    curriculum: tuple[Lesson, ...] = ()
    """Parameters of the scenario that change while the training goes on."""
    weights: dict[str, float] = field(default_factory=dict)
    """Reward weights that replace the task's own, by name."""

    def __post_init__(self) -> None:
        """Check values that depend on each other: minibatches, critic, costs, candidates, learning rates and steps."""
        if self.num_envs % self.minibatches:
            raise ValueError(f"minibatches = {self.minibatches} must divide num_envs = {self.num_envs}.")
        if self.algorithm == "ippo" and self.network.critic == "team":
            raise ValueError('algorithm = "ippo" has a critic that sees one robot\'s observation; make critic "robot".')
        for key in ("stay_cost", "critic_learning_rate"):
            if getattr(self, key) and self.algorithm not in ("mappo", "ippo"):
                raise ValueError(f'{key} is for mappo and ippo, not for algorithm = "{self.algorithm}"; leave it out.')
        if self.algorithm == "search" and self.num_envs % self.search.candidates:
            raise ValueError(f"search.candidates = {self.search.candidates} must divide num_envs = {self.num_envs}.")
        if (top := self.fastest) < (rate := self.learning_rate):
            raise ValueError(f"top_learning_rate = {top:g} must be no less than learning_rate = {rate:g}.")
        if self.last_step > self.total_steps:
            steps = f"{self.stop_after} agent-steps are more than total_steps = {self.total_steps}"
            raise ValueError(f"{steps}, where schedules end; raise total_steps or lower stop_after (steps of a stage).")

    def gamma_lambda(self, period_s: float) -> tuple[float, float]:
        """Discount and lambda for decisions that are so far apart."""
        return math.exp(-period_s / self.value_horizon_s), math.exp(-period_s / self.credit_s)

    @property
    def fastest(self) -> float:
        """The largest learning rate."""
        return self.top_learning_rate or self.learning_rate

    @property
    def last_step(self) -> int:
        """Agent-steps after which the run has all that it is to have."""
        return self.stop_after or self.total_steps


def recipes_dir() -> Path:
    """Training recipes, `NAME.toml`."""
    return share_dir() / "policies" / "recipes"


def recipe_names() -> list[str]:
    """Recipes that ship."""
    return sorted(p.stem for p in recipes_dir().glob("*.toml"))


def load_recipe(name: str) -> tuple[TrainConfig, int]:
    """Return a recipe by name (of `policies/recipes/`) or path, and the seed with which it was shipped.

    For a recipe with stages, the result is their common part; `robomarl.lab.train.stages.plan` reads
    the stages.

    Raises:
        UserError: unknown name, bad TOML, or a wrong key or value.
    """
    data, file = read_recipe(name)
    seed = convert(Seed, data.get("seed", 0), file, "seed")
    assert isinstance(seed, int), "a Seed is"
    return build(TrainConfig, training_keys(data), file), seed


def training_keys(data: JsonObject) -> dict[str, object]:
    """Return the keys of a recipe file that are for `TrainConfig`, misspelt ones included."""
    return {key: value for key, value in data.items() if key not in BESIDE}


def read_recipe(name: str) -> tuple[JsonObject, str]:
    """Keys of a recipe file, as parsed, and the file's name; see `load_recipe` for the errors."""
    path = Path(name) if name.endswith(".toml") else recipes_dir() / f"{name}.toml"
    if not path.is_file():
        meant = suggest(path.stem, recipe_names(), "known recipes")
        raise UserError(f"Unknown recipe {name!r}: no file {path.name}; {meant}")
    return read_toml(path, lambda base: read_recipe(base)[0], partial(renewed, file=path.name)), path.name
