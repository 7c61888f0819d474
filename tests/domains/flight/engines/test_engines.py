"""The engines against each other and against values worked out by hand."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.types import GRAVITY_M_S2
from robomarl.domains.flight.lab.check import harsh_commands, spread_out
from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.randomize import RandomizeConfig
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld, positions, velocities
from robomarl.lab.sim.check import CheckConfig, check_engines
from robomarl.lab.sim.scenario import load_scenario

EXACT = RandomizeConfig(noise_scale=(0.0, 0.0))


@pytest.fixture(scope="module")
def calm() -> FlightScenario:
    """Two robots at rest, nothing randomized, high enough to fall."""
    scenario = load_scenario("swap_2")
    start = dataclasses.replace(scenario.start, height_m=100.0, speed_m_s=0.0, yaw_rad=0.0)
    return dataclasses.replace(scenario, randomize=EXACT, start=start)


@pytest.fixture(scope="module", params=["mujoco", "fast"])
def team(request: pytest.FixtureRequest, calm: FlightScenario) -> TeamSim:
    return make_team(calm, request.param, 1, 0)


def with_physics(world: FlightWorld, **values: float) -> FlightWorld:
    """The same state with one physical parameter changed for all."""
    physics = world.hidden.physics
    changed = {name: np.full_like(physics.mass_kg, value) for name, value in values.items()}
    return world._replace(hidden=world.hidden._replace(physics=physics._replace(**changed)))


def fly(team: TeamSim, seconds: float, command: Any = (0, 0, 0, 0)) -> FlightWorld:
    shape = (team.num_envs, team.scenario.count, 4)
    for _ in range(round(seconds / team.scenario.period_s)):
        team.step(np.broadcast_to(np.array(command, np.float32), shape))
    return team.world


def test_hover_stays_put(team: TeamSim):
    start = positions(team.reset().body)
    world = fly(team, 2.0)
    assert positions(world.body) == pytest.approx(start, abs=1e-3)
    assert velocities(world.body) == pytest.approx(np.zeros((1, 2, 3)), abs=1e-3)


def test_without_thrust_it_falls_to_terminal_speed(team: TeamSim):
    """Semi-implicit Euler of v' = -g - c v by hand: v_n = -(g / c) (1 - (1 - c dt)^n)."""
    scenario = team.scenario
    team.set_world(with_physics(team.reset(), thrust_scale=0.0))
    world = fly(team, 2.0)
    drag, steps = scenario.vehicle_config.body.drag_per_s, round(2.0 * scenario.rates.physics_hz)
    speed = GRAVITY_M_S2 / drag * (1 - (1 - drag * scenario.physics_dt_s) ** steps)
    assert velocities(world.body)[..., 2] == pytest.approx(np.full((1, 2), -speed), rel=1e-4)
    assert speed == pytest.approx(16.17, abs=0.02)  # and the exact solution of the equation of motion


def test_wind_carries_along(team: TeamSim):
    """In a steady wind w and level flight: v = w (1 - exp(-c t)), by the file's drag over mass."""
    start = team.reset()
    wind = (start.hidden.wind_m_s[0] + 1.0, *start.hidden.wind_m_s[1:])
    team.set_world(start._replace(hidden=start.hidden._replace(wind_m_s=wind)))
    world = fly(team, 1.0)
    expected = 1 - np.exp(-team.scenario.vehicle_config.body.drag_per_s * 1.0)
    assert velocities(world.body)[..., 0] == pytest.approx(np.full((1, 2), expected), rel=2e-3)


def test_acceleration_is_reached(team: TeamSim):
    team.reset()
    before = velocities(fly(team, 0.6, (1.5, -1.0, 0.5, 0.0)).body)
    after = velocities(fly(team, 0.2, (1.5, -1.0, 0.5, 0.0)).body)
    drag = team.scenario.vehicle_config.body.drag_per_s * (before + after) / 2
    assert (after - before) / 0.2 + drag == pytest.approx(np.broadcast_to([1.5, -1.0, 0.5], (1, 2, 3)), abs=0.02)


def test_yaw_rate_is_reached(team: TeamSim):
    team.reset()
    assert fly(team, 2.0, (0, 0, 0, 0.8)).body.omega[2] == pytest.approx(np.full((1, 2), 0.8), abs=0.01)


def test_commands_are_clipped_to_the_vehicle(team: TeamSim):
    team.reset()
    limits = team.scenario.vehicle_config.limits
    world = fly(team, 0.02, (99, -99, 99, 99))
    high, low = limits.accel_max_m_s2, limits.accel_min_m_s2
    assert world.queue[0][0, 0] == pytest.approx([high[0], low[1], high[2], limits.yaw_rate_rad_s])


def test_mujoco_reads_contacts(calm: FlightScenario):
    near = dataclasses.replace(calm, start=dataclasses.replace(calm.start, jitter_m=0.0))
    team = make_team(near, "mujoco", 2, 0)
    start = team.reset()
    assert not team.contact.any()  # pyright: ignore[reportAttributeAccessIssue]
    x = start.body.pos[0].copy()
    x[1], x[0] = [0.0, 0.13], [0.0, 0.15]
    y = np.zeros_like(x)
    team.set_world(start._replace(body=start.body._replace(pos=(x, y, start.body.pos[2]))))
    fly(team, 0.02)
    assert team.contact.tolist() == [False, True]  # pyright: ignore[reportAttributeAccessIssue]


def test_teams_do_not_depend_on_each_other():
    """A team flies the same alone and in a batch, threads and all."""
    scenario = load_scenario("swap_2")
    scenario = dataclasses.replace(scenario, randomize=dataclasses.replace(scenario.randomize, gust_m_s=(0, 0)))
    batch, alone = make_team(scenario, "mujoco", 5, 3), make_team(scenario, "mujoco", 1, 0)
    alone.set_world(_pick(batch.reset(), 3))
    for command in np.random.default_rng(0).uniform(-2, 2, (20, 5, 2, 4)).astype(np.float32):
        batch.step(command)
        alone.step(command[3:4])
    assert np.array_equal(positions(batch.world.body)[3], positions(alone.world.body)[0])


def _pick(tree: Any, index: int) -> Any:
    if isinstance(tree, tuple):
        parts = [_pick(item, index) for item in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    return tree[index : index + 1]


def test_the_same_seed_is_the_same_flight():
    scenario = load_scenario("swap_2")
    ends = []
    for _ in range(2):
        team = make_team(scenario, "mujoco", 3, 7)
        team.reset()
        ends.append(positions(fly(team, 0.4, (1, 0, 0, 0)).body))
    assert np.array_equal(*ends)


def test_an_unknown_engine_is_named(calm: FlightScenario):
    with pytest.raises(UserError, match="bullet is not an engine; allowed: fast, mujoco, mjx"):
        make_team(calm, "bullet", 1, 0)


def test_a_team_has_to_be_reset_first(calm: FlightScenario):
    with pytest.raises(RuntimeError, match="call reset"):
        _ = make_team(calm, "mujoco", 1, 0).world


def test_check_passes_on_swap_4():
    figures = check_engines(load_scenario("swap_4"), CheckConfig(("fast", "mujoco")))
    assert figures["passed"]
    assert figures["position_diff_m"] < 1e-3
    assert figures["attitude_diff_rad"] < 1e-3
    assert [pair["first"] + pair["second"] for pair in figures["pairs"]] == ["fastmujoco"]


def test_mjx_agrees_too():
    config = CheckConfig(("mujoco", "mjx"), seconds=0.5, teams=2)
    figures = check_engines(load_scenario("swap_2"), config)
    assert figures["passed"]
    assert figures["position_diff_m"] < 1e-4


@pytest.mark.parametrize("engine", ["fast", "mujoco"])
def test_five_percent_of_mass_fail_the_check(engine: str):
    config = CheckConfig(("fast", "mujoco"), teams=2)
    figures = check_engines(load_scenario("swap_2"), config, {engine: 1.05})
    assert not figures["passed"]
    assert figures["position_diff_m"] > 0.1


def test_harsh_commands_are_held_and_within_limits():
    scenario, teams = load_scenario("swap_4"), 8
    world = make_team(scenario, "mujoco", teams, 0).reset()
    _, commands = harsh_commands(scenario, world, np.random.default_rng(0), 4.0)
    limits = scenario.vehicle_config.limits
    assert (commands[..., :3] >= limits.accel_min_m_s2).all()
    assert (commands[..., :3] <= limits.accel_max_m_s2).all()
    changed = (np.diff(commands, axis=0) != 0).any(-1)
    holds = [np.diff(np.flatnonzero(changed[:, e, n])) for e in range(teams) for n in range(4)]
    held = np.concatenate(holds)
    assert held.min() >= 10  # 0.2 s at 50 Hz
    assert held.max() <= 20


def test_spread_out_robots_cannot_meet():
    scenario = load_scenario("swap_4")
    apart = spread_out(scenario, 2.0)
    reach = np.hypot(np.hypot(3, 3), 2) * 2.0
    assert apart.start.min_spacing_m > 2 * reach
    assert apart.start.height_m > reach


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sims": ("fast",)}, "name two or more different engines"),
        ({"sims": ("fast", "fast")}, "name two or more different engines"),
        ({"seconds": 0.0}, "must be above 0"),
    ],
)
def test_bad_check_options_are_named(values: dict[str, Any], message: str):
    with pytest.raises(UserError, match=message):
        CheckConfig(**values)
