"""The network beside the law of `volley_hit`, and the reward terms whose gradient trains it."""

import json
import math
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from robomarl.core.config import UserError
from robomarl.domains.volleyball.lab.controllers import law_of
from robomarl.domains.volleyball.lab.controllers.residual import EDGE, INPUTS, corrected, inputs
from robomarl.domains.volleyball.lab.controllers.run_up import HitLaw
from robomarl.domains.volleyball.lab.controllers.strike import seen_of
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks.solo import RIM_M, reach_m, rim_m2
from robomarl.lab.sim.law import NetworkLaw, numbers_of
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.config import SearchConfig, TrainConfig
from robomarl.lab.train.policy_search import gradient
from robomarl.lab.train.policy_search.gradient import LAST_RATE, clipped, gradient_run, rates_of
from robomarl.lab.train.policy_search.search import SearchOptions, first_gains, keep_gains, steps_of
from robomarl.lab.train.policy_search.structured import load_law

HIT = load_scenario("volley_hit", VolleyScenario)


def hit_law() -> HitLaw:
    law = law_of(HIT)
    assert isinstance(law, HitLaw)
    return law


def seen_at_start() -> np.ndarray:
    """Observations [5, 1, 28] of five starts."""
    sim, law = simulation_of(HIT).batch(HIT, "fast", 5, 0), hit_law()
    sim.reset()
    return law.observation.observe(law.observation.init(sim.views()), sim.views())[1]


def torn(law: HitLaw) -> HitLaw:
    """The law with a network whose last layer is not 0."""
    gains = law.with_network(1)
    return law.with_gains(gains._replace(last=gains.last + 0.1))


def test_nothing_added_leaves_a_command_within_the_limits_as_it_is():
    commands = np.array([-20.0, -11.4, -3.0, 0.0, 7.0, 11.4, 30.0])
    np.testing.assert_allclose(corrected(commands, 0 * commands, -12.0, 12.0), np.clip(commands, -12 * EDGE, 12 * EDGE))


def test_no_command_with_a_network_is_beyond_a_limit():
    commands, more = np.meshgrid(np.linspace(-30, 30, 13), np.linspace(-5, 5, 11))
    found = corrected(commands, more, -9.3, 6.0)
    assert found.min() >= -9.3 and found.max() <= 6.0
    assert (np.diff(found, axis=0) > 0).all(), "more of the output is more of the command, at the limits too"


def test_a_new_network_changes_no_command_away_from_the_limits():
    law, obs = hit_law(), seen_at_start()
    assert isinstance(law, NetworkLaw) and inputs(seen_of(obs)).shape[-1] == INPUTS
    limits = HIT.vehicle_config.limits
    middle = (np.array(limits.accel_max_m_s2) + limits.accel_min_m_s2) / 2
    half = (np.array(limits.accel_max_m_s2) - limits.accel_min_m_s2) / 2
    plain, new = law.act(obs)[..., :3], law.with_gains(law.with_network(0)).act(obs)[..., :3]
    np.testing.assert_allclose(new, np.clip(plain, middle - EDGE * half, middle + EDGE * half), atol=1e-5)
    assert np.abs(torn(law).act(obs)[..., :3] - new).max() > 0.1


def test_the_network_is_equal_in_jax_and_numpy_and_silent_once_the_ball_is_hit():
    law, obs = torn(hit_law()), seen_at_start()
    np.testing.assert_allclose(law.act(obs), jax.jit(law.act)(jnp.asarray(obs)), rtol=1e-4, atol=1e-4)
    obs[..., 25] = -3.0
    np.testing.assert_allclose(law.act(obs), hit_law().act(obs), atol=1e-6)


def test_a_search_sees_the_numbers_of_a_law_alone():
    law = hit_law()
    assert len(numbers_of(law.with_network(0))) == len(numbers_of(law.gains)) == len(numbers_of(law.search_least)) == 30


def falling(aside_m: float) -> TeamWorld:
    """An upright drone at its start, with the ball 0.05 m above its racket's plane, falling at 5 m/s."""
    sim = simulation_of(HIT).batch(HIT, "fast", 1, 0)
    world: TeamWorld = sim.reset() or sim.world
    pos = world.pos_m * 0 + np.array([4.5, 0.0, 2.0], world.pos_m.dtype)
    ball = pos[..., 0, :] + np.array([aside_m, 0.0, 0.055 + 0.1 + 0.05], pos.dtype)
    own = world.own._replace(ball_pos_m=ball, ball_vel_m_s=ball * 0 + np.array([0, 0, -5.0], pos.dtype))
    level = world.quat_wxyz * 0 + np.array([1.0, 0, 0, 0], pos.dtype)
    return world._replace(pos_m=pos, quat_wxyz=level, vel_m_s=pos * 0, omega_rad_s=pos * 0, own=own)


@pytest.mark.parametrize("aside_m", [0.0, RIM_M - 0.01, RIM_M + 0.02, 0.3])
def test_the_rim_has_a_price_on_both_sides_of_it(aside_m: float):
    np.testing.assert_allclose(rim_m2(HIT, falling(aside_m)), max(aside_m - RIM_M, 0.0) ** 2, atol=1e-5)


def test_a_ball_that_rises_or_is_far_above_has_no_price():
    world = falling(0.3)
    own = world.own
    assert not rim_m2(HIT, world._replace(own=own._replace(ball_vel_m_s=-own.ball_vel_m_s))).any()
    assert not rim_m2(HIT, world._replace(own=own._replace(ball_pos_m=own.ball_pos_m + 1.0))).any()


def test_the_reach_of_a_hit_is_that_of_the_balls_parabola():
    world = falling(0.0)
    fast = world.own.ball_vel_m_s * 0 + np.array([-8.0, 0.0, 6.0], np.float32)
    height = float(world.own.ball_pos_m[0, 2])
    left_s = (6.0 + np.sqrt(36.0 + 2 * 9.81 * (height - 2.0))) / 9.81
    np.testing.assert_allclose(
        reach_m(world._replace(own=world.own._replace(ball_vel_m_s=fast))), 8 * left_s, rtol=1e-5
    )


def test_a_run_folder_keeps_the_network(tmp_path: Path):
    law, obs = torn(hit_law()), seen_at_start()
    config = TrainConfig(scenario="volley_hit", algorithm="gradient")
    keep_gains(config, HIT, law.gains, SearchOptions(tmp_path / "run"))
    run = load_law(tmp_path / "run")
    np.testing.assert_array_equal(run.gains.second, law.gains.second)
    np.testing.assert_allclose(law.with_gains(run.gains).act(obs), law.act(obs), rtol=1e-6)


def damage(name: str, value: object, folder: Path) -> str:
    """The error of a run folder whose law.json has this value in place of a gain's."""
    keep_gains(
        TrainConfig(scenario="volley_hit", algorithm="gradient"), HIT, torn(hit_law()).gains, SearchOptions(folder)
    )
    content = json.loads((folder / "law.json").read_text())
    content["gains"][name] = content["gains"][name][:-1] if value == "short" else value
    (folder / "law.json").write_text(json.dumps(content))
    with pytest.raises(UserError, match="the run folder is damaged") as error:
        load_law(folder)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("first", 0.5, "first has the shape"),
        ("first", [], "first has the shape"),
        ("second", "short", "second has the shape"),
        ("last", None, "last is not finite"),
        ("push_0", [1.0], "push_0 has the shape"),
        ("push_0", None, "push_0 is not finite"),
        ("push_0", "much", "could not convert"),
    ],
)
def test_a_damaged_law_is_named(name: str, value: object, said: str, tmp_path: Path):
    assert f"law.json: is not whole ({said}" in damage(name, value, tmp_path / "run")


def test_a_recipe_names_no_layer_of_a_network(tmp_path: Path):
    law, layer = hit_law(), {"first": 0.5}
    told = "first is no gain of the law that is a number; allowed: .*aside_m.$"
    with pytest.raises(UserError, match=f"search.start of the recipe: {told}"):
        first_gains(law, layer)
    with pytest.raises(UserError, match=f"search.steps of the recipe: {told}"):
        steps_of(law, SearchConfig(steps=layer))
    alone = steps_of(law, SearchConfig(steps={"keep": 1.0}, steps_alone=True))
    assert numbers_of(alone).sum() == 1.0 and len(numbers_of(alone)) == 30
    config = TrainConfig(scenario="volley_hit", algorithm="gradient", search=SearchConfig(start=layer))
    with pytest.raises(UserError, match=f"mine: search.start of the recipe: {told}"):
        gradient_run(config, HIT, SearchOptions(tmp_path / "run", recipe="mine"))


@pytest.mark.parametrize("worth", [SearchConfig(steps={"P": 1.0}), SearchConfig(late_per_s=1.0)])
def test_a_gradient_has_no_keys_of_a_search(worth: SearchConfig, tmp_path: Path):
    config = TrainConfig(scenario="volley_hit", algorithm="gradient", search=worth)
    with pytest.raises(UserError, match='of the recipe is of algorithm = "search" alone, not of "gradient"'):
        gradient_run(config, HIT, SearchOptions(tmp_path / "run"))


def test_the_learning_rate_falls_until_the_schedules_end_not_where_the_run_stops():
    config = TrainConfig(algorithm="gradient", total_steps=1000, stop_after=500, learning_rate=0.1, num_envs=8)
    stopped, whole = (
        np.array([rates_of(c, 10)(i) for i in (0, 50, 100)]) for c in (config, replace(config, stop_after=None))
    )
    np.testing.assert_allclose(stopped, whole)
    np.testing.assert_allclose(stopped, [0.1, 0.1 * (1 + LAST_RATE) / 2, 0.1 * LAST_RATE], rtol=1e-5)


def plain_steps(stop_at: int):
    """In place of `make_step`: each update adds 1 to the last layer; Ctrl-C comes in update `stop_at`."""

    def step(network: dict, moments: optax.OptState, *_: jax.Array) -> tuple:
        made = int(round(float(network["last"].max())))
        if made + 1 == stop_at:
            raise KeyboardInterrupt
        return {**network, "last": network["last"] + 1.0}, moments, jnp.asarray(made + 1.0)

    return lambda *_: step


FOUR = TrainConfig(
    scenario="volley_hit", algorithm="gradient", num_envs=8, minibatches=1, unroll=2, total_steps=8 * 2 * 4
)  # fmt: skip


@pytest.mark.parametrize(("minutes", "stop_at", "made"), [(math.inf, 0, 4), (0.0, 0, 1), (math.inf, 4, 3)])
def test_the_log_and_the_law_have_the_last_update(
    minutes: float, stop_at: int, made: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Of a run that is whole, that its minutes end, and that Ctrl-C stops in its fourth update."""
    monkeypatch.setattr(gradient, "make_step", plain_steps(stop_at))
    options = SearchOptions(tmp_path / "run", quiet=True, minutes=minutes)
    if stop_at:
        with pytest.raises(KeyboardInterrupt):
            gradient_run(FOUR, HIT, options)
    else:
        assert gradient_run(FOUR, HIT, options)["update"] == made
    rows = (tmp_path / "run" / "metrics.csv").read_text().splitlines()
    assert [int(row.split(",")[0]) for row in rows[1:]] == list(range(1, made + 1))
    np.testing.assert_allclose(load_law(tmp_path / "run").gains.last, float(made))


def test_a_steep_gradient_is_clipped_and_one_that_is_not_finite_counts_for_nothing():
    config = TrainConfig(max_grad_norm=1.0)
    np.testing.assert_allclose(clipped(config, {"a": jnp.array([3.0, 4.0])})["a"], [0.6, 0.8], rtol=1e-6)
    np.testing.assert_allclose(clipped(config, {"a": jnp.array([0.3, 0.4])})["a"], [0.3, 0.4], rtol=1e-6)
    assert not np.asarray(clipped(config, {"a": jnp.array([1.0]), "b": jnp.array([jnp.nan])})["a"]).any()


def test_a_task_whose_law_has_no_network_is_refused(tmp_path: Path):
    config = TrainConfig(scenario="volley_bump", algorithm="gradient")
    with pytest.raises(UserError, match=r'volley_bump.toml: algorithm = "gradient" is for a law with a network'):
        gradient_run(config, load_scenario("volley_bump", VolleyScenario), SearchOptions(tmp_path / "run"))


@pytest.mark.slow
def test_the_gradient_makes_hits_longer(tmp_path: Path):
    """The engine's gradient takes minutes to compile; then 40 updates raise the reach less the rim's price."""
    weights = {"reach": 1.0, "rim": -3000.0, "hit": 0.0, "distance": 0.0, "strays": 0.0, "fault": 0.0}
    config = TrainConfig(
        scenario="volley_hit", algorithm="gradient", num_envs=64, minibatches=1, unroll=50, total_steps=64 * 50 * 41,
        learning_rate=0.003, weights=weights,
    )  # fmt: skip
    gradient_run(config, HIT, SearchOptions(tmp_path / "run", quiet=True))
    rows = [line.split(",") for line in (tmp_path / "run" / "metrics.csv").read_text().splitlines()]
    scores = [float(row[rows[0].index("score")]) for row in rows[1:]]
    assert scores[-1] > scores[0] + 0.2
