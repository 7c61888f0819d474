"""`SweepPlan`: what a sweep varies and how trials are compared; a TOML file, which `read_plan` reads.

trials = 16                        # draws from the ranges; lists are tried in all combinations
metric = "success"                 # column of metrics.csv, averaged over the last updates
[scheduler]
kind = "asha"
[space]
learning_rate = { log = [1e-4, 1e-2] }
"noise.final_floor_std" = { range = [0.0, 0.2] }
minibatches = [4, 8]
"""

import itertools
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from robomarl.core.config import Count, Seed, UserError, build, convert, suggest, to_dict
from robomarl.core.config.parsed import JsonObject, is_list, is_table
from robomarl.core.tables import read_toml
from robomarl.lab.train.config import TrainConfig

Value = bool | int | float | str
FIXED = ("scenario", "version")
"""Keys of a recipe that a sweep does not vary."""
MOST_TRIALS = 10_000
Values = dict[str, Value]
"""Values of one trial by dotted key of the recipe."""


@dataclass(frozen=True)
class Draws:
    """Values of a key that are drawn between two ends."""

    low: float
    high: float
    is_log: bool
    """True: the logarithm is uniform."""
    is_whole: bool
    """True: rounded to a whole number."""

    def draw(self, random: np.random.Generator) -> Value:
        """One value."""
        ends = (math.log(self.low), math.log(self.high)) if self.is_log else (self.low, self.high)
        drawn = random.uniform(*ends)
        value = math.exp(drawn) if self.is_log else drawn
        return round(value) if self.is_whole else float(f"{value:.6g}")


@dataclass(frozen=True)
class SchedulerConfig:
    """Which trials go on."""

    kind: Literal["none", "asha", "pbt"] = "none"
    """none: all to their end; asha: the worst are stopped early (Li et al., MLSys 2020); pbt: the worst go on from
    weights of the best with other values (Jaderberg et al., 2017)."""
    first_steps: Count = 500_000
    """Agent-steps before which no trial is stopped, and between two exchanges of pbt."""
    keep_one_of: int = 3
    """Reduction factor of asha: one of this many trials passes each rung."""

    def __post_init__(self) -> None:
        """Check that a rung stops a trial."""
        if self.keep_one_of < 2:
            raise ValueError(f"keep_one_of = {self.keep_one_of} stops no trial; make it 2 or more.")


@dataclass(frozen=True)
class SweepPlan:
    """All that decides the figures of a sweep but the scenario and its recipe."""

    space: dict[str, object] = field(default_factory=dict)
    """By dotted key of the recipe: a list of values, `{range = [low, high]}` or `{log = [low, high]}`."""
    metric: str = "success"
    """Column of metrics.csv by which trials are compared; its mean over the last 20 updates."""
    goal: Literal["max", "min"] = "max"
    """Whether more or less of the metric is better."""
    trials: Count = 8
    """Draws from the ranges, each in all combinations of the lists; without a range there is one draw."""
    draw_seed: Seed = 0
    """Seed of the draws."""
    seeds: tuple[Seed, ...] = (0,)
    """Seeds of training: each combination is trained with each of them."""
    steps: Count | None = None
    """Agent-steps of a trial, instead of the recipe's."""
    scheduler: SchedulerConfig = SchedulerConfig()

    def __post_init__(self) -> None:
        """Check that no trial is trained twice, and that there is one."""
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds = {list(self.seeds)} must name one seed or more, each once.")
        if not self.metric.strip():
            raise ValueError('metric is empty; name a column of metrics.csv, as in metric = "success".')


def read_plan(path: Path, base: TrainConfig) -> tuple[SweepPlan, list[Values]]:
    """Return the plan in a file, and the values of each of its combinations.

    Args:
        path: TOML file.
        base: the recipe that the values replace parts of.

    Raises:
        UserError: an unknown key, a wrong value, a space without a key, or a combination that is no recipe.
    """
    data = read_toml(path, lambda name: read_toml(path.with_name(name), lambda _: {}))
    plan = build(SweepPlan, data, path.name)
    scheduler = data.get("scheduler")
    _check_scheduler(plan, scheduler if is_table(scheduler) else {}, base, path.name)
    if not plan.space:
        raise UserError(f"{path.name}: [space] is empty; add a key of the recipe, as in learning_rate = [1e-3, 3e-3].")
    choices = choices_of(plan, base, path.name)
    _check_count(plan, choices, path.name)
    found = _combinations(plan, choices)
    for values in found:
        with_values(base, values, path.name)
    return plan, found


def choices_of(plan: SweepPlan, base: TrainConfig, file: str) -> dict[str, list[Value] | Draws]:
    """The choices of each key; raises `UserError` for keys and values that are none."""
    return {key: _choice(key, value, base, file) for key, value in plan.space.items()}


def with_values(base: TrainConfig, values: Values, file: str) -> TrainConfig:
    """Return the recipe with the values of a trial; raises `UserError` where that is no recipe."""
    keys = to_dict(base)
    for dotted, value in values.items():
        *tables, name = dotted.split(".")
        table = keys
        for word in tables:
            inner = table[word]
            assert isinstance(inner, dict), "as `_choice` has seen"
            table = inner
        table[name] = value
    return build(TrainConfig, keys, file)


def recipe_lines(extended: str, values: Values) -> str:
    """Text of a recipe file: another recipe, with the values of a trial.

    Args:
        extended: name of the recipe; "": the default values.
        values: of the trial.
    """
    lines = [f"extends = {json.dumps(extended)}"] if extended else ["version = 2"]
    return "\n".join([*lines, *(f"{key} = {json.dumps(value)}" for key, value in values.items()), ""])


def _choice(key: str, value: object, base: TrainConfig, file: str) -> list[Value] | Draws:
    old = _value_at(key, base, file)
    if key in FIXED:
        raise UserError(f"{file}: space.{key} is the same in all trials; leave it out of the space.")
    if is_list(value) and value and all(isinstance(one, Value) for one in value):
        if len(set(map(json.dumps, value))) < len(value):
            raise UserError(f"{file}: space.{key} = {json.dumps(value)} has a value twice; name each once.")
        return [one for one in value if isinstance(one, Value)]
    if is_table(value) and len(value) == 1 and (kind := next(iter(value))) in ("range", "log"):
        ends = convert(tuple[float, float], value[kind], file, f"space.{key}.{kind}")
        assert isinstance(ends, tuple)
        low, high = ends
        if not low < high or (kind == "log" and low <= 0):
            positive = "0 < " if kind == "log" else ""
            raise UserError(f"{file}: space.{key}.{kind} = [{low:g}, {high:g}]; write it with {positive}low < high.")
        return Draws(low, high, kind == "log", isinstance(old, int) and not isinstance(old, bool))
    raise UserError(f"{file}: space.{key} must be a list of values, {{range = [low, high]}} or {{log = [low, high]}}.")


def _check_scheduler(plan: SweepPlan, given: JsonObject, base: TrainConfig, file: str) -> None:
    """Raise `UserError` for a scheduler that would stop nothing, or whose table has keys that its kind does not use."""
    kind = plan.scheduler.kind
    unused = {"none": ("first_steps", "keep_one_of"), "asha": (), "pbt": ("keep_one_of",)}[kind]
    if key := next((key for key in unused if key in given), None):
        wanted = '"asha" or "pbt"' if key == "first_steps" else '"asha"'
        raise UserError(f'{file}: scheduler.{key} is for kind = {wanted}, and kind is "{kind}"; leave the key out.')
    last, first = plan.steps or base.last_step, plan.scheduler.first_steps
    if kind != "none" and first >= last:
        raise UserError(
            f"{file}: scheduler.first_steps = {first}, and a trial ends after {last} agent-steps, so {kind} does "
            "nothing; make first_steps less, or steps more."
        )


def _check_count(plan: SweepPlan, choices: dict[str, list[Value] | Draws], file: str) -> None:
    """Raises `UserError` for too many trials, or fewer than a scheduler can compare."""
    ranges = any(isinstance(one, Draws) for one in choices.values())
    mixed = math.prod(len(one) for one in choices.values() if isinstance(one, list))
    count = (plan.trials if ranges else 1) * mixed * len(plan.seeds)
    if count > MOST_TRIALS:
        raise UserError(
            f"{file}: these are {count} trials, and {MOST_TRIALS} at most can be; lower trials or the lists."
        )
    if count < 2 and plan.scheduler.kind != "none":
        raise UserError(
            f"{file}: scheduler.kind = {plan.scheduler.kind!r} compares trials, and there is one; add values."
        )


def _value_at(dotted: str, base: TrainConfig, file: str) -> object:
    """Value of a key of the recipe; raises `UserError` where it has none."""
    at: object = to_dict(base)
    for word in dotted.split("."):
        if not is_table(at) or word not in at:
            known = sorted(at) if is_table(at) else []
            raise UserError(f"{file}: space: the recipe has no key {dotted!r}; {suggest(word, known)}")
        at = at[word]
    if is_table(at):
        raise UserError(f"{file}: space.{dotted} is a table of the recipe; name a key in it, as in {dotted}.KEY.")
    return at


def _combinations(plan: SweepPlan, choices: dict[str, list[Value] | Draws]) -> list[Values]:
    """Each draw in all combinations of the lists, in the order of the file."""
    lists = {key: one for key, one in choices.items() if isinstance(one, list)}
    ranges = {key: one for key, one in choices.items() if isinstance(one, Draws)}
    random = np.random.default_rng(plan.draw_seed)
    found: list[Values] = []
    for _ in range(plan.trials if ranges else 1):
        drawn = {key: one.draw(random) for key, one in ranges.items()}
        for chosen in itertools.product(*lists.values()):
            mixed = drawn | dict(zip(lists, chosen, strict=True))
            found.append({key: mixed[key] for key in choices})
    return found
