"""What stands in the arena: distances by hand and by MuJoCo, contacts in both engines, a filter that knows of it."""

# pyright: reportAttributeAccessIssue=false
import dataclasses
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from robomarl.core.bundle.runtime import load_policy
from robomarl.core.config import UserError
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.domains.flight.lab.engines.mjcf import build_model
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.model.obstacles import obstacle_gap
from robomarl.lab.sim.scenario import load_scenario

BALL = Obstacle("sphere", (1.0, 0.0, 1.0), radius_m=0.2)
POLE = Obstacle("capsule", (-1.0, 0.5, 0.0), (-1.0, 0.5, 2.0), radius_m=0.1)
CRATE = Obstacle("box", (-0.3, -1.5, 0.0), (0.3, -1.0, 0.8))


def among(*obstacles: Obstacle) -> FlightScenario:
    scenario = load_scenario("swap_4")
    return dataclasses.replace(scenario, arena=dataclasses.replace(scenario.arena, obstacles=obstacles))


def components(pos: Any) -> Any:
    """[1] each, of one point."""
    return tuple(np.array([p]) for p in pos)


@pytest.mark.parametrize(
    ("obstacle", "pos", "gap"),
    [
        (BALL, (1.0, 0.0, 2.0), 0.8),
        (POLE, (-1.0, 1.5, 1.0), 0.9),
        (POLE, (-1.0, 0.5, 2.5), 0.4),
        (CRATE, (0.0, 0.0, 0.4), 1.0),
        (CRATE, (0.6, -1.25, 1.2), 0.5),
        (CRATE, (0.0, -1.2, 0.4), 0.0),
    ],
)
def test_distances_by_hand(obstacle: Obstacle, pos: tuple[float, float, float], gap: float):
    assert obstacle_gap(among(obstacle), components(pos)) == pytest.approx(gap, abs=1e-6)


def test_distances_are_those_of_the_engine():
    scenario = among(BALL, POLE, CRATE)
    model, rng = build_model(scenario), np.random.default_rng(0)
    data, radius = mujoco.MjData(model), scenario.vehicle_config.body.radius_m
    robot = model.geom("robot0").id
    for pos in rng.uniform((-1.5, -1.5, 0.3), (1.5, 1.5, 2.5), (50, 3)):
        data.qpos[:3] = pos
        mujoco.mj_forward(model, data)
        found = min(
            mujoco.mj_geomDistance(model, data, model.geom(f"obstacle{k}").id, robot, 9.0, None) for k in range(3)
        )
        ours = obstacle_gap(scenario, components(pos))[0]
        assert ours == pytest.approx(max(found + radius, 0.0), abs=1e-6) or found < -radius


def test_nothing_stands_in_an_arena_that_names_nothing():
    assert np.isinf(obstacle_gap(load_scenario("swap_4"), (np.zeros(4), np.zeros(4), np.ones(4)))).all()


@pytest.mark.parametrize("sim", ["mujoco", "fast"])
def test_the_filter_leads_past_a_pillar_that_the_policy_flies_into(sim: str):
    """The bundle was trained without a pillar: alone it hits it, behind the filter nobody touches anything."""
    scenario, policy = load_scenario("swap_4_pillar"), load_policy("swap_4")
    off, qp = (
        evaluate(policy, scenario, EvalConfig(sim=sim, episodes=6, filter=mode, progress=False)).figures
        for mode in ("off", "qp")
    )
    assert off["collision_episodes"] > 0 and off["left_arena_episodes"] == 0
    assert qp["collisions"] == 0
    assert qp["success_rate"] == 1.0


def test_bundles_carry_the_obstacles_of_their_scenario():
    assert safety_params(load_scenario("swap_4_pillar")).obstacles == load_scenario("swap_4_pillar").arena.obstacles


def test_a_load_among_obstacles_is_refused(tmp_path: Path):
    path = tmp_path / "mine.toml"
    ball = '{kind = "sphere", from_m = [1.0, 0.0, 1.0], radius_m = 0.2}'
    path.write_text(f'extends = "lift_3"\n[arena]\nobstacles = [{ball}]\n')
    with pytest.raises(UserError, match=r"mine.toml: arena.obstacles: a load among obstacles is not simulated"):
        load_scenario(str(path))
