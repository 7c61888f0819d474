"""Drones sense in their nodes what they sense in simulation, and wait at their posts without a ball."""

import numpy as np
import pytest

from robomarl.core.config import to_dict
from robomarl.core.types import GRAVITY_M_S2
from robomarl.core.view import Goal, LocalView, blank_view
from robomarl.domains.volleyball.core.sensed import LOST_S
from robomarl.domains.volleyball.ros.court import COURT
from robomarl.domains.volleyball.ros.match_court import MATCH_COURT
from robomarl.domains.volleyball.ros.tracked_ball import BALL, TrackedBall, ball_to, carried_on, is_lost
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.simulation import simulation_of
from robomarl.ros.fieldtask import FieldTask, Seat, field_task
from robomarl.ros.io.messages import PoseHistory, TeamSnapshot

pytest.importorskip("rclpy")
from robomarl.domains.volleyball.field.messages import messages  # noqa: E402
from robomarl.ros.convert import MessageError, places_to  # noqa: E402

NOW_S = 1000.0
CASES = [("volley_bump_pass", 2, 1), ("volley_bump", 1, 1), ("volley_3v3", 3, 2), ("volley_1v1", 1, 2)]


def flown(name: str):  # noqa: ANN202
    """A scenario and its world after a second of commands anywhere."""
    scenario = load_scenario(name)
    simulation = simulation_of(scenario)
    sim, random = simulation.batch(scenario, "fast", 1, 3), np.random.default_rng(0)
    sim.reset()
    robots = len(sim.world.pos_m[0])
    for _ in range(50):
        sim.step(random.uniform(-2, 2, (1, robots, 4)).astype(np.float32))
    return scenario, sim


def told(scenario: Scenario, world: object, in_play: bool = True) -> dict:
    """What all nodes read of the messages of now."""
    made = messages(scenario, world, NOW_S, in_play)  # pyright: ignore[reportArgumentType]
    ball, _ = ball_to(made[BALL.name])
    (court,) = (name for name in made if name != BALL.name)
    return {court: places_to(made[court])[0], BALL.name: ball}


def snapshot(now_s: float = NOW_S) -> TeamSnapshot:
    return TeamSnapshot(now_s, PoseHistory(), ())


def seat_of(name: str, team: tuple[int, int], robot: int) -> tuple[FieldTask, Seat]:
    size, _ = team
    seat = Seat(robot % size, size, robot >= size)
    return field_task(to_dict(load_scenario(name)), seat), seat


@pytest.mark.parametrize(("name", "size", "teams"), CASES)
def test_a_node_senses_what_simulation_shows(name: str, size: int, teams: int):
    scenario, sim = flown(name)
    views, heard = sim.views(), told(scenario, sim.world)
    for robot in range(size * teams):
        task, _ = seat_of(name, (size, teams), robot)
        found = task.sensed(heard, snapshot())
        for part, expected in zip(found, views.sensed, strict=True):
            np.testing.assert_allclose(part, expected[0, robot], atol=1e-6)
        assert task.role == views.role[0, robot]


@pytest.mark.parametrize("robot", range(6))
def test_the_goal_of_a_player_is_its_post_in_its_own_court(robot: int):
    task, seat = seat_of("volley_3v3", (3, 2), robot)
    _, sim = flown("volley_3v3")
    assert task.fixed_goal is not None
    np.testing.assert_allclose(task.fixed_goal.pos_m, sim.views().goal.pos_m[0, robot], atol=1e-6)
    assert task.away == seat.away == (robot >= 3)


def seen_from(place_m: tuple[float, float, float]) -> LocalView:
    view = blank_view(num_mates=1)
    view.own.pos_m[:] = place_m
    return view._replace(goal=Goal(np.array([4.5, -2.5, 2.0]), np.array([1.0, 0, 0, 0])))


@pytest.mark.parametrize(("name", "size", "teams"), CASES)
def test_no_policy_decides_on_a_ball_that_is_old_or_not_in_play(name: str, size: int, teams: int):
    scenario, sim = flown(name)
    task, _ = seat_of(name, (size, teams), 0)
    view, heard, waiting = seen_from((3.0, -2.5, 2.5)), told(scenario, sim.world), told(scenario, sim.world, False)
    cases = [(heard, 0.0, True), (heard, LOST_S - 1e-3, True), (heard, LOST_S + 1e-3, False), (waiting, 0.0, False)]
    for values, late_s, decides in cases:
        task.sensed(values, snapshot(NOW_S + late_s))
        command = task.waits(view)
        assert (command is None) == decides
        if command is not None:
            assert command[0] > 0 > command[2] and command[1] == command[3] == 0, "towards its post"
    task.sensed({**heard, BALL.name: None}, snapshot())
    assert task.waits(view) is not None, "before the first message"
    task.sensed({COURT.name: None, MATCH_COURT.name: None, BALL.name: heard[BALL.name]}, snapshot())
    assert task.waits(view) is not None, "without a referee"


def test_a_robot_that_waits_comes_to_rest_at_its_post():
    task, _ = seat_of("volley_bump_pass", (2, 1), 0)
    task.sensed({}, snapshot())
    view, fast = seen_from((1.0, 2.0, 4.0)), np.array([-1.0, 2.0, -1.5])
    for _ in range(400):
        view.own.vel_m_s[:] = fast
        command = task.waits(view)
        assert command is not None and np.abs(command[:3]).max() <= 4.0
        fast = fast + 0.02 * command[:3]
        view.own.pos_m[:] += 0.02 * fast
    np.testing.assert_allclose(view.own.pos_m, [4.5, -2.5, 2.0], atol=0.02)
    assert np.linalg.norm(fast) < 0.02


def test_a_ball_is_carried_on_by_its_flight_and_no_further_than_it_is_believed():
    ball = TrackedBall(np.array([1.0, 2.0, 3.0]), np.array([1.0, -2.0, 4.0]), NOW_S)
    on = carried_on(ball, NOW_S + 0.04)
    np.testing.assert_allclose(on.pos_m, ball.pos_m + 0.04 * ball.vel_m_s - [0, 0, GRAVITY_M_S2 * 0.0008], atol=1e-9)
    np.testing.assert_allclose(on.vel_m_s, ball.vel_m_s - [0, 0, GRAVITY_M_S2 * 0.04], atol=1e-9)
    np.testing.assert_array_equal(carried_on(ball, NOW_S + 9).pos_m, carried_on(ball, NOW_S + LOST_S).pos_m)
    assert is_lost(ball, NOW_S - 1.0), "a clock is wrong"


def test_a_message_that_is_no_ball_is_refused():
    from geometry_msgs.msg import Pose, PoseArray

    with pytest.raises(MessageError, match="has 3 poses, and the ball has 2"):
        ball_to(PoseArray(poses=[Pose()] * 3))


@pytest.mark.parametrize(("name", "size", "teams"), CASES)
def test_a_referees_message_for_another_team_size_is_refused(name: str, size: int, teams: int):
    from geometry_msgs.msg import Pose, PoseArray

    task, _ = seat_of(name, (size, teams), 0)
    rows = 1 + 2 * size if teams == 1 else 1 + 6 * size
    reader = task.sensors[0].reader
    assert reader(PoseArray(poses=[Pose()] * rows))[0].shape == (rows, 3)
    for count in (rows - 1, rows + 2):
        with pytest.raises(MessageError, match=f"has {count} poses, and the referee of this team's size sends {rows}"):
            reader(PoseArray(poses=[Pose()] * count))


def test_a_robot_waits_for_a_ball_message_of_after_the_hit():
    """The referee has handed the turn over, and the ball's message of that hit was lost."""
    scenario, sim = flown("volley_bump_pass")
    task, _ = seat_of("volley_bump_pass", (2, 1), 0)
    view, heard = seen_from((3.0, -2.5, 2.5)), told(scenario, sim.world)
    after_hit = heard[COURT.name].copy()
    after_hit[[1, 3], 0] = after_hit[[3, 1], 0]
    newer = heard[BALL.name]._replace(stamp_s=NOW_S + 0.02)
    cases = [(heard[COURT.name], heard[BALL.name]), (after_hit, heard[BALL.name]), (after_hit, newer)]
    waits = []
    for court, ball in cases:
        task.sensed({COURT.name: court, BALL.name: ball}, snapshot(NOW_S + 0.03))
        waits.append(task.waits(view) is not None)
    assert waits == [False, True, False]
    task.sensed(
        {COURT.name: heard[COURT.name], BALL.name: newer._replace(stamp_s=NOW_S + 0.04)}, snapshot(NOW_S + 0.05)
    )
    assert task.waits(view) is None, "both messages of a hit came at once"


def test_messages_of_the_tracking_system_are_late_and_some_are_lost():
    from robomarl.domains.volleyball.field.tracking import LateMessages

    late = LateMessages(0.01, 0.25, seed=0)
    got = []
    for k in range(2000):
        late.send(k, 0.02 * k)
        assert late.arrived(0.02 * k + 0.005) is None
        got.append(late.arrived(0.02 * k + 0.0101))
    assert 1400 < sum(message is not None for message in got) < 1600
    assert all(message in (None, k) for k, message in enumerate(got))
