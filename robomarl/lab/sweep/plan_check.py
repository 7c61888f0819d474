"""Checks of a sweep's plan against its recipe and scenario, before any worker starts."""

import json
from collections.abc import Callable
from functools import partial

import jax

from robomarl.core.config import UserError, suggest
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.sweep.space import SweepPlan, Values, with_values
from robomarl.lab.train.algorithm import init_state, make_update, training_env
from robomarl.lab.train.config import OFFLINE, TrainConfig
from robomarl.lab.train.self_play.teachers import trained_teams
from robomarl.lab.train.stages.curriculum import check_curriculum

OF_UPDATE = ("update", "steps", "seconds")
"""Columns of metrics.csv beside the metrics of an update."""
Unused = Callable[[TrainConfig, Scenario], str]
"""(recipe, scenario) -> why a key changes nothing; "" if it may change something."""


def check_plan(plan: SweepPlan, combinations: list[Values], base: TrainConfig, scenario: Scenario, file: str) -> None:
    """Check that the trials can be compared, and that each key of the space changes something in one of them.

    Args:
        plan: the plan, as `read_plan` returns it.
        combinations: values of each combination.
        base: the recipe that the values replace parts of.
        scenario: the scenario of all trials.
        file: name of the plan's file.

    Raises:
        UserError: the metric is no column of metrics.csv, a key is used by no trial, or a combination does not fit the
            scenario.
    """
    configs = [with_values(base, values, file) for values in combinations]
    check_used(plan, configs, scenario, file)
    for config, words in _different(configs, combinations):
        try:
            columns = columns_of(config, scenario)
        except UserError as error:
            raise UserError(f"{file}: {f'a trial with {words}: ' if words else ''}{error}") from None
        if plan.metric not in columns:
            raise UserError(
                f"{file}: metric = {plan.metric!r} is no column that every update has; {suggest(plan.metric, columns)}"
            )


def columns_of(config: TrainConfig, scenario: Scenario) -> list[str]:
    """Columns that an update of a run writes to metrics.csv, from its traced program; nothing is compiled.

    Raises:
        UserError: the recipe does not fit the scenario.
    """
    env = training_env(config, scenario)
    check_curriculum(config, env)
    update = make_update(config, env, trained_teams)
    state = jax.eval_shape(partial(init_state, config, env), jax.random.key(0))
    return [*OF_UPDATE, *jax.eval_shape(update, state)[1]]


def check_used(plan: SweepPlan, configs: list[TrainConfig], scenario: Scenario, file: str) -> None:
    """Raise `UserError` for a key of the space that no trial uses, so that its values would be trained in vain."""
    for key in plan.space:
        rules = [rule for begin, rule in UNUSED.items() if key == begin or key.startswith(f"{begin}.")]
        for rule in rules:
            if all(why := [rule(config, scenario) for config in configs]):
                raise UserError(f"{file}: space.{key} changes nothing: {why[0]}; leave it out of the space.")


def _different(configs: list[TrainConfig], combinations: list[Values]) -> list[tuple[TrainConfig, str]]:
    """One recipe, with its words, for each set of words and switches: they decide what is measured, numbers do not."""
    found: dict[str, TrainConfig] = {}
    for config, values in zip(configs, combinations, strict=True):
        words = [f"{key} = {json.dumps(value)}" for key, value in values.items() if isinstance(value, bool | str)]
        found.setdefault(", ".join(words), config)
    return [(config, words) for words, config in found.items()]


def _of_algorithms(*names: str) -> Unused:
    """A key that these algorithms alone use."""
    told = " or ".join(names)
    return lambda config, _: "" if config.algorithm in names else f"algorithm is {config.algorithm!r}, not {told}"


def _of_games(_: TrainConfig, scenario: Scenario) -> str:
    return "" if simulation_of(scenario).games is not None else f"{scenario.name} is no game"


UNUSED: dict[str, Unused] = {
    **dict.fromkeys(
        ("clip", "entropy_cost", "value_cost", "critic_first", "target_kl", "final_target_kl"),
        _of_algorithms("mappo", "ippo"),
    ),
    "search": _of_algorithms("search", "gradient"),
    "reppo": _of_algorithms("reppo"),
    "offline": _of_algorithms(*OFFLINE),
    "imitation": lambda config, _: "it belongs to `robomarl train --imitate`",
    **dict.fromkeys((f"self_play.{k}" for k in ("script_parts", "itself", "snapshots", "pool", "teacher")), _of_games),
    **dict.fromkeys((f"self_play.{k}" for k in ("snapshot_every", "teach_share", "rally_s", "goes_on")), _of_games),
    "network.heads": lambda config, _: "" if config.network.encoder == "graph" else "network.encoder is not graph",
    "network.gru_size": lambda config, _: "" if config.network.memory == "gru" else "network.memory is not gru",
}
"""By key, or table of keys, of the recipe: when it changes nothing."""
