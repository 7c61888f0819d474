"""Lessons: values between begin and end, levels by steps and by success, one program for all of them."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import Lesson, NetworkConfig, TrainConfig, load_recipe
from robomarl.lab.train.mappo import make_update
from robomarl.lab.train.stages.curriculum import check_curriculum, next_level, reset_at, value_at
from tests.lab.train.learners import first_state

ENV = make_env(load_scenario("swap_2"))
WIND = Lesson("randomize.wind_m_s", (0.0, 0.0), (2.0, 4.0), over=0.5)
PLACE = Lesson("start.speed_m_s", 0.0, 1.0, success=0.0, rise=0.5)
SMALL = TrainConfig(
    num_envs=4, unroll=2, minibatches=2, epochs=1, total_steps=4 * 2 * 2 * 4, network=NetworkConfig((4,), (4,))
)


def test_values_lie_between_begin_and_end() -> None:
    """A number and a range, at three levels."""
    assert value_at(WIND, jnp.asarray(0.5)) == (1.0, 2.0)
    assert value_at(WIND, jnp.asarray(1.0)) == (2.0, 4.0)
    assert value_at(PLACE, jnp.asarray(0.25)) == 0.25


def test_level_by_share_of_the_steps_and_by_success() -> None:
    """By share: 1 at half of the steps. By success: one step up where episodes ended well enough, never down."""
    config = dataclasses.replace(SMALL, curriculum=(WIND, dataclasses.replace(PLACE, success=0.8)))
    state = first_state(config, ENV)._replace(steps=jnp.asarray(config.total_steps / 4))
    for success, episodes, wanted in ((0.9, 3.0, 0.5), (0.7, 3.0, 0.0), (0.9, 0.0, 0.0)):
        metrics = {"success": jnp.asarray(success), "episodes": jnp.asarray(episodes)}
        np.testing.assert_allclose(next_level(config, state, metrics), [0.5, wanted])
    full = state._replace(level=jnp.array([0.0, 0.9]))
    metrics = {"success": jnp.asarray(1.0), "episodes": jnp.asarray(1.0)}
    np.testing.assert_allclose(next_level(config, full, metrics), [0.5, 1.0])


def test_episodes_start_at_the_level_and_nothing_is_compiled_anew() -> None:
    """The wind that episodes are born with follows the level, through one compiled program."""
    config = dataclasses.replace(SMALL, curriculum=(WIND,))
    traces = []

    @jax.jit
    def wind(level: jax.Array) -> jax.Array:
        traces.append(level)
        hidden = reset_at(config, ENV, level)(jax.random.key(1)).pipeline_state.world.hidden  # type: ignore[union-attr]
        return jnp.hypot(hidden.wind_m_s[0], hidden.wind_m_s[1])[0]

    found = [float(wind(jnp.array([level]))) for level in (0.0, 0.5, 1.0)]
    assert found[0] == pytest.approx(0.0, abs=1e-6)
    assert 1.0 <= found[1] <= 2.0 and found[2] == pytest.approx(2 * found[1], rel=1e-5)
    assert len(traces) == 1


def test_training_walks_through_the_lesson() -> None:
    """Four updates with one program: the level is logged and reaches its end at half of the steps."""
    config = dataclasses.replace(SMALL, curriculum=(WIND,))
    update, state, levels = jax.jit(make_update(config, ENV)), first_state(config, ENV), []
    for _ in range(4):
        state, metrics = update(state)
        levels.append(float(state.level[0]))
    assert levels == pytest.approx([0.5, 1.0, 1.0, 1.0])
    assert "curriculum/randomize.wind_m_s" in metrics


@pytest.mark.parametrize(
    ("lesson", "message"),
    [
        (Lesson("randomize.colour", (0.0, 0.0), (1.0, 1.0)), "does not exist"),
        (Lesson("wind_m_s", 0.0, 1.0), "does not exist"),
        (Lesson("randomize.wind_m_s", 0.0, 1.0), "of another form than begin = 0.0"),
        (Lesson("randomize.delay_s", (0.0, 0.0), (0.0, 0.04)), "decides what is compiled"),
        (
            Lesson("randomize.mass_scale", (1.0, 1.0), (-1.0, 1.0)),
            r"randomize.mass_scale: .*\[-1, 1\] must be \[low, high\]",
        ),
        (Lesson("start.speed_m_s", 0.0, -1.0), r"start.speed_m_s = -1.0 is out of range; it must be at least 0"),
    ],
)
def test_bad_lessons_are_named(lesson: Lesson, message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_curriculum(dataclasses.replace(SMALL, curriculum=(lesson,)), ENV)


def test_recipe_declares_lessons(tmp_path) -> None:
    """As a table in TOML; begin and end of different forms are refused."""
    file = tmp_path / "mine.toml"
    text = "[[curriculum]]\nparameter = 'randomize.packet_loss'\nbegin = [0.0, 0.0]\nend = {end}\nover = 0.3\n"
    file.write_text(text.format(end="[0.0, 0.3]"))
    wanted = Lesson("randomize.packet_loss", (0.0, 0.0), (0.0, 0.3), over=0.3)
    assert load_recipe(str(file))[0].curriculum == (wanted,)
    file.write_text(text.format(end="0.3"))
    with pytest.raises(UserError, match=r"curriculum\[0\].*must both be"):
        load_recipe(str(file))
