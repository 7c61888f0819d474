"""The simulated robots without ROS: what they do on their own, what is measured, who judges."""

import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

from robomarl.domains.flight.field.sim_team import RealTimeTeam
from robomarl.domains.flight.field.vehicle_failsafe import Mode
from robomarl.domains.flight.lab.scenario import FlightScenario, SensingConfig
from robomarl.lab.sim.scenario import load_scenario

HOVER = np.zeros(4)


@pytest.fixture(scope="module")
def scenario() -> FlightScenario:
    return replace(load_scenario("swap_4"), count=2)


@pytest.fixture
def team(scenario: FlightScenario) -> RealTimeTeam:
    made = RealTimeTeam(scenario)
    made.reset(3)
    return made


def run(team: RealTimeTeam, duration_s: float, commands: dict[int, np.ndarray] | None = None) -> None:
    """Let time pass; commands are repeated at the policy's rate."""
    for step in range(round(duration_s / team.dt_s)):
        if step % team.scenario.substeps == 0:
            for index, command in (commands or {}).items():
                team.command(index, command)
        team.step()


def test_robots_hover_where_they_were_put_until_they_are_commanded(team: RealTimeTeam):
    start = team.truth().pos_m
    run(team, 4.0)
    assert (team.onboard.mode == Mode.WAITING).all()
    np.testing.assert_allclose(team.truth().pos_m, start, atol=0.15)
    assert team.score().flight_s == 0


def test_a_commanded_robot_moves_and_only_that_one(team: RealTimeTeam):
    start = team.truth().pos_m
    run(team, 0.8, {0: np.array([1.0, 0, 0, 0])})
    moved = team.truth().pos_m - start
    assert moved[0, 0] == pytest.approx(0.32, abs=0.2)  # there is wind
    assert abs(moved[1, 0]) < 0.05


def test_commands_are_clipped_to_the_vehicles_limits(team: RealTimeTeam):
    run(team, 0.4, {0: np.array([100.0, 0, 0, 0])})
    most = team.scenario.vehicle_config.limits.accel_max_m_s2[0]
    assert team.truth().vel_m_s[0, 0] <= most * 0.4


@pytest.mark.parametrize(
    ("duration_s", "mode"),
    [(0.1, Mode.FOLLOWING), (0.3, Mode.FOLLOWING), (1.0, Mode.FOLLOWING), (5.0, Mode.LANDING), (9.0, Mode.LANDING)],
)
def test_a_vehicle_that_stood_still_goes_by_the_time_that_has_passed(team: RealTimeTeam, duration_s: float, mode: Mode):
    """Commands are there again when it goes on: they end a hover, and no landing."""
    run(team, 0.1, {0: HOVER, 1: HOVER})
    team.stand_still(duration_s)
    hovers = duration_s > team.scenario.vehicle_config.on_command_loss.hover_after_s
    assert team.onboard.mode[0] == (mode if mode is Mode.LANDING else Mode.HOVERING if hovers else Mode.FOLLOWING)
    run(team, 0.1, {0: HOVER, 1: HOVER})
    assert (team.onboard.mode == mode).all()


@pytest.mark.parametrize("ends", ["E-stop", "stood still"])
def test_a_landing_that_begins_at_once_is_straight_down_and_ends_also_for_a_light_and_strong_vehicle(
    scenario: FlightScenario, ends: str
):
    """No hover comes before it, in which the vehicle would learn its trim."""
    extreme = replace(scenario.randomize, mass_scale=(0.95, 0.95), thrust_scale=(1.05, 1.05))
    team = RealTimeTeam(replace(scenario, randomize=extreme))
    team.reset(3)
    run(team, 1.2, {0: np.array([0.8, 0, -0.5, 0]), 1: np.array([0, 0, -0.5, 0])})
    left = team.truth().pos_m
    if ends == "E-stop":
        team.stop()
    else:
        team.stand_still(5.0)
    run(team, 8.0)
    landed = team.truth().pos_m
    assert (team.onboard.mode == Mode.LANDED).all(), landed
    assert abs(landed[1, :2] - left[1, :2]).max() < 0.3
    assert -0.1 < landed[0, 0] - left[0, 0] < 0.8  # braked, and did not fly back to its start


def test_without_commands_it_brakes_and_hovers_then_lands(team: RealTimeTeam):
    loss = team.scenario.vehicle_config.on_command_loss
    run(team, 0.5, {0: np.array([1.5, 0, 0, 0]), 1: HOVER})
    run(team, loss.hover_after_s - 0.05, {1: HOVER})
    assert team.onboard.mode[0] == Mode.FOLLOWING
    run(team, 0.1, {1: HOVER})
    assert list(team.onboard.mode) == [Mode.HOVERING, Mode.FOLLOWING]
    run(team, 1.0, {1: HOVER})
    assert np.linalg.norm(team.truth().vel_m_s[0]) < 0.35
    run(team, loss.land_after_s - 1.0, {1: HOVER})
    assert list(team.onboard.mode) == [Mode.LANDING, Mode.FOLLOWING]
    height = team.truth().pos_m[0, 2]
    run(team, 1.0, {1: HOVER})
    assert height - team.truth().pos_m[0, 2] == pytest.approx(loss.land_speed_m_s, abs=0.15)
    run(team, 6.0, {1: HOVER})
    assert team.onboard.mode[0] == Mode.LANDED
    assert team.truth().pos_m[0, 2] == pytest.approx(team.scenario.vehicle_config.body.radius_m, abs=0.01)


def test_a_hovering_robot_takes_commands_again_a_landing_one_does_not(team: RealTimeTeam):
    loss = team.scenario.vehicle_config.on_command_loss
    run(team, 0.1, {0: HOVER, 1: HOVER})
    run(team, loss.hover_after_s + 0.1)
    team.command(0, HOVER)
    assert list(team.onboard.mode) == [Mode.FOLLOWING, Mode.HOVERING]
    run(team, loss.land_after_s + 0.1)
    team.command(0, HOVER)
    assert list(team.onboard.mode) == [Mode.LANDING, Mode.LANDING]


def test_estimates_have_the_scenarios_noise(scenario: FlightScenario):
    quiet = RealTimeTeam(replace(scenario, sensing=SensingConfig(0.0, 0.0)))
    for made, least_m in ((RealTimeTeam(scenario), 1e-4), (quiet, 0.0)):
        made.reset(0)
        run(made, 0.1)
        pos = np.array([estimate.pos_m for estimate in made.estimates(made.truth())])
        error = np.abs(pos - made.truth().pos_m).max()
        assert least_m <= error <= scenario.sensing.position_noise_m * 2 + 1e-6


def test_a_seed_is_a_flight(team: RealTimeTeam):
    start, goals = team.truth().pos_m, team.goals_m.copy()
    team.reset(4)
    assert not np.allclose(team.truth().pos_m, start)
    team.reset(3)
    np.testing.assert_array_equal(team.truth().pos_m, start)
    np.testing.assert_array_equal(team.goals_m, goals)
    assert (team.score().flight, team.score().seed) == (2, 3)


def test_the_judge_sees_robots_touch(team: RealTimeTeam):
    for _ in range(1000):
        pos, vel = team.truth().pos_m, team.truth().vel_m_s
        team.command(0, np.array([*3 * (2 * (pos[1] - pos[0]) - vel[0]), 0]))
        team.step()
        if team.score().failed:
            break
    score = team.score()
    assert (score.failed, score.collisions) == (1, 1)
    assert score.min_distance_m < 2 * team.scenario.vehicle_config.body.radius_m
    assert math.isnan(score.succeeded_s)


def test_the_judge_counts_arrival_at_the_goals_that_were_last_sent(team: RealTimeTeam):
    run(team, 2.0)
    for index, place in enumerate(team.truth().pos_m):
        team.set_goal(index, place)
    hold_s = team.scenario.success.hold_s
    for _ in range(4):  # hardly a command, so that the flight counts, while the robots hover on their own
        run(team, 0.02, {0: HOVER})
        run(team, 0.5)
    assert team.score().succeeded_s == pytest.approx(hold_s, abs=0.6)
    assert not team.score().failed


def test_from_the_ground_the_clock_starts_at_the_hand_over(scenario: FlightScenario):
    """The climb takes half of the time limit; goals that are reached after it count."""
    team = RealTimeTeam(scenario, ground=True, handover_m=0.8)
    team.reset(3)
    start = team.truth().pos_m
    for index, place in enumerate(start):
        team.set_goal(index, np.array([*place[:2], 0.8]))
    began_m = None
    for step in range(round(9.0 / team.dt_s)):
        truth, goal = team.truth(), start + [0.0, 0.0, min(0.2 * step * team.dt_s, 0.73)]
        for index in range(2):
            accel = 4 * (goal[index] - truth.pos_m[index]) - 3 * truth.vel_m_s[index]
            team.command(index, np.array([*accel, 0.0]))
        team.step()
        if began_m is None and team.score().flight_s:
            began_m = team.truth().pos_m[:, 2].min()
    assert began_m == pytest.approx(0.7, abs=0.02)
    assert team.score().succeeded_s < 3.0
    assert not team.score().failed


def test_robots_on_the_ground_stand_on_their_feet_whatever_the_wind(scenario: FlightScenario):
    windy = replace(scenario, randomize=replace(scenario.randomize, wind_m_s=(1.0, 1.0)))
    team = RealTimeTeam(windy, ground=True)
    team.reset(3)
    start = team.truth()
    run(team, 2.0)
    np.testing.assert_array_equal(team.truth().pos_m, start.pos_m)
    np.testing.assert_array_equal(team.truth().quat_wxyz, start.quat_wxyz)
    run(team, 1.0, {0: np.array([0.0, 0.0, 1.0, 0.0])})
    assert team.truth().pos_m[0, 2] > 0.25
    assert team.truth().pos_m[1, 2] == start.pos_m[1, 2]


def test_robots_that_touch_on_the_climb_have_failed(scenario: FlightScenario):
    team = RealTimeTeam(scenario, ground=True, handover_m=2.5)
    team.reset(3)
    for _ in range(1500):
        truth = team.truth()
        away = truth.pos_m[1] - truth.pos_m[0]
        team.command(0, np.array([*3 * (2 * away[:2] - truth.vel_m_s[0, :2]), 1.0 - truth.vel_m_s[0, 2], 0]))
        team.command(1, np.array([*-2 * truth.vel_m_s[1, :2], 1.0 - truth.vel_m_s[1, 2], 0]))
        team.step()
        if team.score().failed:
            break
    assert (team.score().failed, team.score().flight_s) == (1, 0)


def test_the_log_of_a_team_that_stays_up_for_hours_ends(team: RealTimeTeam, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("robomarl.domains.flight.field.judge.MAX_LOG_S", 0.2)
    run(team, 0.5, {0: HOVER, 1: HOVER})
    log = team.judge.log()
    assert log is not None
    assert len(log.pos_m) == 10
    assert team.score().flight_s == pytest.approx(0.5, abs=0.01)


def test_the_log_is_true_and_at_the_policys_rate(team: RealTimeTeam):
    assert team.judge.log() is None
    start = team.truth().pos_m
    run(team, 1.0, {0: np.array([0.5, 0, 0, 0]), 1: HOVER})
    log = team.judge.log()
    assert log is not None
    assert log.pos_m.shape == (50, 2, 3)
    np.testing.assert_allclose(np.diff(log.time_s), 0.02)
    np.testing.assert_allclose(log.pos_m[0], start, atol=1e-3)
    np.testing.assert_allclose(log.command[10, 0], [0.5, 0, 0, 0])
    assert np.isnan(log.nominal).all()


def sunk(team: RealTimeTeam, speed_m_s: float, duration_s: float) -> RealTimeTeam:
    """Robot 1 hovers, robot 0 is sent straight down with a speed."""
    for _ in range(round(duration_s / team.dt_s)):
        vel = team.truth().vel_m_s
        team.command(0, np.array([*-2 * vel[0, :2], 4 * (-speed_m_s - vel[0, 2]), 0]))
        team.command(1, np.array([*-2 * vel[1], 0]))
        team.step()
    return team


def test_the_judge_does_not_take_a_landing_for_leaving_the_arena(team: RealTimeTeam):
    """Below the floor, which is a line in the air, slowly, down to the ground."""
    floor_m = team.scenario.arena.low_m[2]
    sunk(team, 0.3, (team.truth().pos_m[0, 2] - floor_m) / 0.3 + 4.0)
    assert team.truth().pos_m[0, 2] < min(floor_m, 0.15)
    assert not team.score().failed


def test_the_judge_fails_who_falls_through_the_floor(team: RealTimeTeam):
    sunk(team, 3.0, 3.0)
    assert team.score().failed and not team.score().collisions
