"""What a residual's push is, whoever asks: the same on every engine, without order, and nothing where there is none."""

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.config import UserError, to_dict
from robomarl.domains.flight.field.identify.learned import first_weights
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.env import TeamEnv
from robomarl.domains.flight.lab.residual import (
    LARGEST_M_S2,
    REACH_M,
    Residual,
    accel_of,
    load_residual,
    member_of,
    save_residual,
)
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.step import with_residual as pushed_wind
from robomarl.field.adapt.vehicles import section_of
from robomarl.field.identify.flight_sets import Candidate
from robomarl.field.identify.held_out import Prediction
from robomarl.field.identify.residual import Judged
from robomarl.lab.sim.scenario import build_scenario, load_scenario


def drawn(seed: int = 0) -> Residual:
    """Members with a push."""
    rng = np.random.default_rng(seed)
    weights = first_weights(rng)
    kernel, bias = weights.decide[-1]
    last = (kernel + rng.normal(0, 0.1, kernel.shape).astype(np.float32), bias)
    return Residual(weights.encode, (*weights.decide[:-1], last))


def constant(accel_m_s2: tuple[float, ...]) -> Residual:
    """Members that push alike, whatever they see."""
    nothing = jax.tree.map(np.zeros_like, first_weights(np.random.default_rng(0)))
    bias = np.arctanh(np.array(accel_m_s2) / LARGEST_M_S2) + nothing.decide[-1][1]
    return Residual(nothing.encode, (*nothing.decide[:-1], (nothing.decide[-1][0], bias.astype(np.float32))))


def with_residual(folder: Path, residual: Residual) -> FlightScenario:
    """`swap_4` without weather, noise and differences between vehicles, and with this residual."""
    scenario: Any = load_scenario("swap_4")
    calm = dict.fromkeys(("wind_m_s", "gust_m_s"), (0.0, 0.0)) | {"mass_scale": (1.1, 1.1), "delay_s": (0.02, 0.02)}
    ranges = dataclasses.replace(scenario.randomize, **calm)
    return dataclasses.replace(scenario, randomize=ranges, residual=save_residual(residual, folder / "residual.npz"))


def test_scenarios_of_an_adapted_bundle_find_their_residual_wherever_they_are_moved(tmp_path: Path):
    def save(file: Path) -> dict[str, Any]:
        return dataclasses.asdict(save_residual(drawn(), file))

    out, seen = tmp_path / "out", Prediction(0.02, 0.01, 0.005, 9, 9)
    beside, _ = section_of(out, Judged(seen, Candidate(np.zeros(0), np.zeros(0), (), save), ""))
    for folder in ("identified", "judge"):
        (out / folder).mkdir()
        (out / folder / "plant.toml").write_text(f'extends = "swap_4"\n{beside}')
    moved = out.rename(tmp_path / "moved")
    for file in moved.glob("*/plant.toml"):
        scenario: Any = load_scenario(str(file))
        assert load_residual(scenario.residual).encode[0][0] == pytest.approx(drawn().encode[0][0])


def test_neighbours_have_no_order_and_none_that_is_far_away():
    rng = np.random.default_rng(1)
    own, near = rng.normal(size=(4, 9)).astype(np.float32), rng.normal(0, 0.5, (4, 3, 3)).astype(np.float32)
    one = member_of(drawn(), 2)
    push = accel_of(one, own, near)
    assert np.abs(push).max() > 0.05
    assert accel_of(one, own, near[:, [2, 0, 1]]) == pytest.approx(push, abs=1e-5)
    far = np.concatenate([near, near[:, :1] * 0 + REACH_M], 1)
    assert accel_of(one, own, far) == pytest.approx(push, abs=1e-6)
    alone = accel_of(one, own, near[:, :0])
    assert accel_of(one, own, near * 0 + 100.0) == pytest.approx(alone, abs=1e-6)
    assert np.asarray(accel_of(one, jnp.asarray(own), jnp.asarray(near))) == pytest.approx(push, abs=1e-5)


@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_a_push_accelerates_every_vehicle_by_so_much(sim: str, tmp_path: Path):
    wanted, still = (0.5, -0.3, -0.8), np.zeros((3, 4, 4), np.float32)
    gained = []
    for residual in (constant(wanted), constant((0.0, 0.0, 0.0))):
        team = make_team(with_residual(tmp_path, residual), sim, 3, 0)
        before = np.stack(team.reset().body.vel)
        for _ in range(5):
            team.step(still)
        gained.append(np.stack(team.world.body.vel) - before)
    expected = np.array(wanted)[:, None, None] * 5 * team.scenario.period_s + np.zeros((3, 3, 4))
    assert gained[0] - gained[1] == pytest.approx(expected, rel=0.03)


def test_engines_agree_about_a_residual_and_members_differ(tmp_path: Path):
    scenario, command = with_residual(tmp_path, drawn()), np.zeros((20, 4, 4), np.float32)
    ends = []
    for sim in ("fast", "mujoco"):
        team = make_team(scenario, sim, 20, 0)
        members = team.reset().member
        for _ in range(10):
            team.step(command)
        ends.append(np.stack(team.world.body.pos))
    assert set(np.asarray(members).tolist()) == {0, 1, 2, 3, 4}
    assert ends[0] == pytest.approx(ends[1], abs=1e-4)


def test_training_teams_draw_their_member_and_nothing_else_anew(tmp_path: Path):
    with_one, keys = TeamEnv(with_residual(tmp_path, drawn())), jax.random.split(jax.random.key(0), 40)
    without = TeamEnv(dataclasses.replace(with_one.scenario, residual=None))
    one, other = (jax.jit(jax.vmap(env.reset))(keys) for env in (with_one, without))
    world, plain = one.pipeline_state.world, other.pipeline_state.world
    assert set(np.asarray(world.member).tolist()) == {0, 1, 2, 3, 4}
    assert isinstance(plain.member, tuple), "no residual, nothing to draw"
    wind = (world.goal_m[..., 0],) * 3
    assert pushed_wind(without.scenario, plain, wind) is wind, "and the engines get the very same wind"
    for a, b in zip(jax.tree.leaves(world._replace(member=())), jax.tree.leaves(plain), strict=True):
        assert np.array_equal(a, b)
    stepped = jax.jit(jax.vmap(with_one.step))(one, jnp.zeros((40, 4, 4)))
    same = jax.jit(jax.vmap(without.step))(other, jnp.zeros((40, 4, 4)))
    assert np.array_equal(stepped.pipeline_state.world.member, world.member)
    velocity = [np.stack(state.pipeline_state.world.body.vel) for state in (stepped, same)]
    assert np.abs(velocity[0] - velocity[1]).max() > 1e-3


def test_what_can_not_be_is_said(tmp_path: Path):
    scenario = with_residual(tmp_path, drawn())
    assert scenario.residual is not None
    lift: Any = load_scenario("lift_3")
    with pytest.raises(ValueError, match="vehicles under a load"):
        dataclasses.replace(lift, residual=scenario.residual)
    (tmp_path / "residual.npz").write_bytes(b"other")
    moved = dataclasses.replace(scenario, residual=dataclasses.replace(scenario.residual, members=4))
    with pytest.raises(UserError, match="was changed, adapt again"):
        load_residual(moved.residual)  # type: ignore[arg-type]
    empty = dataclasses.replace(scenario.residual, sha256=hashlib.sha256(b"other").hexdigest())
    with pytest.raises(UserError, match="has no weights of a residual"):
        load_residual(empty)
    (tmp_path / "residual.npz").unlink()
    with pytest.raises(UserError, match="is not there"):
        load_residual(moved.residual)  # type: ignore[arg-type]
    jax.eval_shape(TeamEnv(scenario).reset, jax.random.key(0))  # a bundle's weights can be read where these are gone
    content = to_dict(scenario)
    assert build_scenario(content, "here") == scenario
    assert "residual" not in to_dict(load_scenario("swap_4")), "contracts of all others are as they were"
