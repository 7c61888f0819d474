"""A curriculum: parameters of the scenario that change while the training goes on, without a new
compilation.

The distributions of an episode's start are traced: `reset_at` gives the environment a scenario in
which some numbers are JAX scalars. Numbers that the program itself depends on (array sizes, rates)
can't be part of a curriculum.
"""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import get_type_hints

import jax
import jax.numpy as jnp
from brax.envs.base import State

from robomarl.core.config import IsDataclass, UserError, convert
from robomarl.core.types import Array
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.train.config import Lesson, TrainConfig
from robomarl.lab.train.state import TrainState


def reset_at(config: TrainConfig, env: AgentsEnv, level: jax.Array) -> Callable[[jax.Array], State]:
    """The environment's reset at a level of the curriculum, key -> state.

    Args:
        config: the recipe.
        env: the environment.
        level: [lessons] 0 to 1.
    """
    if not config.curriculum:
        return env.reset
    values = {lesson.parameter: value_at(lesson, level[i]) for i, lesson in enumerate(config.curriculum)}
    scenario = with_values(env.scenario, values)
    return lambda key: env.reset(key, scenario)  # type: ignore[call-arg]  # games have no curriculum


def value_at(lesson: Lesson, level: jax.Array) -> Array:
    """The parameter's value, a number or [low, high], at a level from 0 to 1."""
    if isinstance(lesson.begin, tuple) and isinstance(lesson.end, tuple):
        return tuple(a + level * (b - a) for a, b in zip(lesson.begin, lesson.end, strict=True))
    return lesson.begin + level * (lesson.end - lesson.begin)  # type: ignore[operator]


def with_values(scenario: Scenario, values: dict[str, object]) -> Scenario:
    """A scenario with other numbers at dotted names. They may be traced, so that its checks are not run again."""
    changed = copy.copy(scenario)
    for name, value in values.items():
        section, key = name.split(".")
        part = copy.copy(getattr(changed, section))
        object.__setattr__(part, key, value)
        object.__setattr__(changed, section, part)
    return changed


def next_level(config: TrainConfig, state: TrainState, metrics: dict[str, jax.Array]) -> jax.Array:
    """[lessons] levels after an update: by the share of the steps, or one step up where its episodes did well."""
    levels = []
    for i, lesson in enumerate(config.curriculum):
        if lesson.success is None:
            level = state.steps / (lesson.over * config.total_steps)
        else:
            is_good = (metrics["episodes"] > 0) & (metrics["success"] >= lesson.success)
            level = state.level[i] + jnp.where(is_good, lesson.rise, 0.0)
        levels.append(jnp.clip(level, 0.0, 1.0))
    return jnp.stack(levels) if levels else state.level


def lesson_metrics(config: TrainConfig, level: jax.Array) -> dict[str, jax.Array]:
    """Level of every lesson, by parameter."""
    return {f"curriculum/{lesson.parameter}": level[i] for i, lesson in enumerate(config.curriculum)}


def check_curriculum(config: TrainConfig, env: AgentsEnv) -> None:
    """Check that the environment can be reset with every parameter of the curriculum traced.

    Raises:
        UserError: a parameter does not exist, has another shape or values that a scenario may not have,
            or determines the compiled program.
    """
    for lesson in config.curriculum:
        section, _, key = lesson.parameter.partition(".")
        now = getattr(getattr(env.scenario, section, None), key, None) if key else None
        if not isinstance(now, type(lesson.begin)):
            kind = "does not exist" if now is None else f"is {now!r}, of another form than begin = {lesson.begin!r}"
            raise UserError(f"curriculum: parameter {lesson.parameter!r} of scenario {env.scenario.name} {kind}.")
        _check_values(lesson, getattr(env.scenario, section), key)
        alone = replace(config, curriculum=(lesson,))
        try:
            jax.eval_shape(lambda level, key, c=alone: reset_at(c, env, level)(key), jnp.zeros(1), jax.random.key(0))
        except jax.errors.JAXTypeError:
            raise UserError(
                f"curriculum: {lesson.parameter} decides what is compiled, so it can't change; choose another."
            ) from None


def _check_values(lesson: Lesson, section: IsDataclass, key: str) -> None:
    """Check both ends of the lesson by the rules of a scenario file; all values between then satisfy these rules
    too.
    """
    hint = get_type_hints(type(section), include_extras=True)[key]
    for value in (lesson.begin, lesson.end):
        try:
            replace(section, **{key: convert(hint, value, "curriculum", lesson.parameter)})
        except ValueError as error:
            raise UserError(f"curriculum: {lesson.parameter}: {error}") from None
