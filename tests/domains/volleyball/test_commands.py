"""Kinds of command of volleyball scenarios: thrust with body rates, and rotor thrusts."""

import numpy as np
import pytest

from robomarl.core.bundle.contract import check_action
from robomarl.core.config import UserError
from robomarl.core.domain.registry import command_of
from robomarl.domains.volleyball.lab.check import row_of
from robomarl.domains.volleyball.lab.commands import action_of, hovering
from robomarl.domains.volleyball.lab.controllers import law_of
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of

KINDS = ("volley_bump_rates", "volley_bump_rotors")


@pytest.mark.parametrize("name", KINDS)
def test_the_contract_knows_the_elements_and_no_filter_takes_them(name: str):
    action = action_of(load_scenario(name, VolleyScenario))
    check_action(action)
    assert command_of(action).elements == tuple(field.name for field in action.fields)
    with pytest.raises(UserError, match="--filter off"):
        command_of(action).filter(None, "qp")


@pytest.mark.parametrize("sim", ["fast", "mujoco"])
@pytest.mark.parametrize("name", KINDS)
def test_an_upright_drone_hovers_by_the_hovering_command(name: str, sim: str):
    scenario = load_scenario(name, VolleyScenario)
    team = simulation_of(scenario).batch(scenario, sim, 2, 0)
    team.reset()
    world = row_of(scenario, team.world, team.world.own.ball_pos_m + 100, team.world.own.ball_vel_m_s)
    team.set_world(world._replace(quat_wxyz=world.quat_wxyz * 0 + np.array([1, 0, 0, 0], np.float32)))
    for _ in range(25):
        team.step(np.zeros((2, 1, 4)) + hovering(scenario))
    np.testing.assert_allclose(team.world.pos_m[..., 2], 20.0, atol=0.02)


@pytest.mark.parametrize("name", KINDS)
def test_the_analytic_skill_hits_the_ball_by_commands_of_each_kind(name: str):
    scenario = load_scenario(name, VolleyScenario)
    law, team = law_of(scenario), simulation_of(scenario).batch(scenario, "fast", 8, 0)
    team.reset()
    memory = law.observation.init(team.views())
    for _ in range(200):
        memory, obs = law.observation.observe(memory, team.views())
        team.step(law.act(obs))
    assert np.asarray(team.world.own.rally.hits).mean() >= 3
