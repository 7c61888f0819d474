"""Loads on both engines: they agree, a wrong mass is found, vehicles are lost, and the law of the task carries."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportAssignmentType=false
# Vectors are tuples made in comprehensions here, whose length the checker does not know.

import dataclasses
from typing import Any

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.flight.lab.engines.mjcf import build_model
from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.payload.check import event_difference, events, tension_difference
from robomarl.domains.flight.lab.payload.follow import pose_errors
from robomarl.domains.flight.lab.payload.state import origin
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.lab.sim.check import CheckConfig, check_engines
from robomarl.lab.sim.scenario import load_scenario


@pytest.fixture(scope="module")
def lift() -> FlightScenario:
    return load_scenario("lift_3")


def changed(scenario: FlightScenario, **ranges: tuple[float, float]) -> FlightScenario:
    return dataclasses.replace(scenario, randomize=dataclasses.replace(scenario.randomize, **ranges))


def hold(team: TeamSim, seconds: float) -> Any:
    still = np.zeros((team.num_envs, team.scenario.count, 5), np.float32)
    for _ in range(round(seconds * team.scenario.rates.policy_hz)):
        team.step(still)
    return team.world


def test_the_engines_agree_on_lift_3(lift: FlightScenario):
    figures = check_engines(lift, CheckConfig(teams=6))
    assert figures["passed"], figures
    assert figures["sims"] == ["fast", "mujoco"]
    assert figures["slack_events"] >= 2
    assert figures["position_diff_m"] < 0.02


@pytest.mark.parametrize("engine", ["fast", "mujoco"])
def test_five_percent_of_mass_fail_the_check(lift: FlightScenario, engine: str):
    figures = check_engines(lift, CheckConfig(("fast", "mujoco"), seconds=1.5, teams=2), {engine: 1.05})
    assert not figures["passed"]
    assert figures["position_diff_m"] > 0.05


def test_events_and_tensions_are_compared_as_documented():
    taut = np.ones((60, 1, 2), bool)
    taut[20:40, 0, 0] = False  # slack from 20 to 40
    taut[10:13, 0, 1] = False  # ringing
    slack, caught = events(taut)
    assert slack.tolist() == [[20, -1]]
    assert caught.tolist() == [[40, -1]]
    later = np.roll(taut, 2, axis=0)
    assert event_difference(taut, later) == 2
    assert event_difference(taut, np.ones_like(taut)) == np.inf
    tension = np.where(taut, 5.0, 0.0)
    assert tension_difference(tension, 1.08 * tension, taut, 5.0) == pytest.approx(0.08)
    assert tension_difference(tension, np.where(taut, 5.0, 3.0), taut, 5.0) == 0.0  # compared while taut in both


def test_mjx_is_refused_for_loads(lift: FlightScenario):
    with pytest.raises(UserError, match="lift_3.toml has fast, mujoco; name two of its engines or more"):
        check_engines(lift, CheckConfig(("fast", "mjx")))


def test_the_model_is_the_file(lift: FlightScenario):
    model = build_model(lift)
    assert lift.load is not None
    assert lift.cables is not None
    load = model.body("load")
    assert load.mass[0] == pytest.approx(lift.load.mass_kg)
    assert load.inertia == pytest.approx(np.array(lift.load.inertia_kg_m2))
    assert model.tendon_range[:, 1] == pytest.approx(np.full(3, lift.cables.length_m))
    points = np.stack([model.site(f"load_point{i}").pos for i in range(3)]) + np.array(lift.load.com_m)
    assert points == pytest.approx(np.array(lift.cables.load_points_m))


@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_hovering_cables_keep_their_length_and_carry_the_weight(lift: FlightScenario, sim: str):
    from robomarl.domains.flight.lab.payload.dynamics import stretch_out

    team = make_team(changed(lift, wind_m_s=(0, 0), gust_m_s=(0, 0)), sim, 4, 0)
    team.reset()
    world = hold(team, 1.0)
    load, body = world.load, world.body
    found = stretch_out(lift.cables, body, load.rigid, load.cargo)  # type: ignore[arg-type]
    assert (found.distance_m / load.cargo.length_m - 1).max() < 0.01
    lifted = (-found.toward[2] * load.tension_n).sum(-1)
    wash = 0.1 * 3 * 12.0  # at most: every vehicle's thrust, straight above
    assert (lifted > 0.9 * load.cargo.mass_kg * 9.81).all()
    assert (lifted < 1.1 * load.cargo.mass_kg * 9.81 + wash).all()


@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_a_cut_cable_pulls_no_more_and_stopped_motors_hang(lift: FlightScenario, sim: str):
    cut = make_team(changed(lift, cut_s=(0.2, 0.2)), sim, 3, 0)
    cut.reset()
    world = hold(cut, 0.5)
    lost = world.load.cargo.cut_s < 1e3
    assert (world.load.tension_n[lost] == 0).all()
    assert (world.load.tension_n[~lost] > 0).any()
    off = make_team(changed(lift, motors_off_s=(0.2, 0.2)), sim, 3, 0)
    off.reset()
    world = hold(off, 0.6)
    dead = world.load.cargo.off_s < 1e3
    rotors = np.stack(world.body.rotors, -1)
    assert (rotors[dead] < 0.1).all()
    assert (rotors[~dead].sum(-1) > 1.0).all()
    assert (world.body.vel[2][dead] < -0.5).all()  # it falls


def test_the_law_brings_the_load_to_its_goal(lift: FlightScenario):
    """What the policy imitates, on the engine that counts: nobody touches, and after 8 s the pose is near."""
    team = make_team(lift, "mujoco", 6, 1)
    team.reset()
    task = task_of(lift)
    assert task.law is not None
    law, bad = task.law(lift), np.zeros(6, bool)
    memory = law.observation.init(team.views())
    for _ in range(800):
        memory, obs = law.observation.observe(memory, team.views())
        world = team.step(law.act(obs))
        bad |= np.asarray(task.failed(lift, world))
    distance, angle = pose_errors(world)
    assert not bad.any()
    assert distance.mean() < 0.04
    assert np.rad2deg(angle).mean() < 4


def test_falls_touches_and_losses_are_told_apart(lift: FlightScenario):
    team, task = make_team(lift, "fast", 2, 0), task_of(lift)
    world = team.reset()
    assert not np.asarray(task.failed(lift, world)).any()
    rigid = world.load.rigid  # type: ignore[attr-defined]
    low = rigid._replace(pos=(*rigid.pos[:2], rigid.pos[2] * 0 + 0.1))
    fallen = world._replace(load=world.load._replace(rigid=low))  # type: ignore[attr-defined]
    assert (origin(low, fallen.load.cargo.com_m)[:, 2] < 0.1).all()
    assert np.asarray(task.failed(lift, fallen)).all()
    x = world.body.pos[0].copy()
    y, z = world.body.pos[1].copy(), world.body.pos[2].copy()
    x[0, 1], y[0, 1], z[0, 1] = x[0, 0] + 0.3, y[0, 0], z[0, 0]
    near = world._replace(body=world.body._replace(pos=(x, y, z)))
    assert np.asarray(task.failed(lift, near)).tolist() == [True, False]
    cargo = near.load.cargo  # type: ignore[attr-defined]
    gone = cargo.cut_s.copy()
    gone[0, 1] = -1.0  # the one that is too near has no cable any more: it does not count
    lost = near._replace(load=near.load._replace(cargo=cargo._replace(cut_s=gone)))  # type: ignore[attr-defined]
    assert not np.asarray(task.failed(lift, lost)).any()
    wound = world._replace(load=world.load._replace(winding_rad=world.load.winding_rad + 6.3))  # type: ignore[attr-defined]
    assert np.asarray(task.failed(lift, wound)).all()
    crossed = world._replace(load=world.load._replace(crossed=np.array([False, True])))  # type: ignore[attr-defined]
    assert np.asarray(task.failed(lift, crossed)).tolist() == [False, True]


def test_the_policy_sees_no_mates(lift: FlightScenario):
    """What is heard may be anything: the observation stays bit-equal."""
    team, task = make_team(lift, "fast", 2, 0), task_of(lift)
    team.reset()
    views, spec = team.views(), task.observation(lift)
    assert not any(path.startswith("heard") for path in spec.reads)
    other = views._replace(heard=views.heard._replace(pos_m=views.heard.pos_m + 5.0, mask=~views.heard.mask))
    _, first = spec.observe(spec.init(views), views)
    _, second = spec.observe(spec.init(other), other)
    assert np.array_equal(first, second)
    single = type(views)(*(_one(part) for part in views))
    _, alone = spec.observe(spec.init(single), single)
    assert alone == pytest.approx(first[1, 2], abs=1e-5)


def _one(part: Any) -> Any:
    if hasattr(part, "_fields"):
        return type(part)(*(_one(p) for p in part))
    return part[1, 2]
