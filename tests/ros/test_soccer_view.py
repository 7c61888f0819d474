"""What a policy node knows of a game is what the simulator says that it knows: same observations, number by number."""

import dataclasses
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("rclpy")

from rclpy.serialization import serialize_message

from robomarl.core.config import UserError, to_dict
from robomarl.core.geometry import quat_from_yaw, yaw_of
from robomarl.core.view import LocalView, Plan
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.task import observation
from robomarl.domains.soccer.ros import messages
from robomarl.domains.soccer.ros.playing import Playing, Sighting, Thing, check_roles
from robomarl.lab.sim.scenario import load_scenario
from robomarl.ros import convert
from robomarl.ros.io import away_frame, fast_messages
from robomarl.ros.io.messages import Broadcast, Detections, Estimate, PoseHistory, TeamSnapshot
from tests.ros.soccerrig import Senses

TOLERANCE = 1e-5


def undisturbed(scenario: SoccerScenario) -> SoccerScenario:
    """All errors of eyes and pose; the radio loses nothing, because messages here don't get lost either."""
    return dataclasses.replace(scenario, randomize=dataclasses.replace(scenario.randomize, packet_loss=(0.0, 0.0)))


def of_robot(views: LocalView, index: int) -> LocalView:
    def pick(value):
        return type(value)(*map(pick, value)) if isinstance(value, tuple) else value[0, index]

    return pick(views)


@pytest.mark.parametrize(("name", "trained_in"), [("soccer_2v2", ""), ("soccer_3v3", ""), ("soccer_3v3", "soccer_2v2")])
def test_every_players_observation_is_the_simulators(name: str, trained_in: str):
    """Both teams, with every error of the sensors, over kicks and kick-offs; a bundle may be of another field."""
    scenario = undisturbed(load_scenario(name))
    senses = Senses(scenario, load_scenario(trained_in) if trained_in else None)
    sim, spec = make_soccer(scenario, "mujoco", 1, 3), observation(scenario)
    random, command = np.random.default_rng(0), np.zeros((1, scenario.players, 4), np.float32)
    sim.reset()
    worst, balls, told, unseen = 0.0, 0, 0, 0
    for step in range(120):
        views = sim.views()
        for index, ours in enumerate(senses.hear(sim.world)):
            theirs = of_robot(views, index)
            (_, a), (_, b) = (spec.observe(spec.init(view), view) for view in (ours, theirs))
            if step > 2:  # messages of before the start do not exist
                worst = max(worst, float(np.abs(np.asarray(a, float) - np.asarray(b, float)).max()))
            here: Any = ours.sensed
            there: Any = theirs.sensed
            assert here.ball_mask == there.ball_mask
            np.testing.assert_array_equal(here.strangers_mask, there.strangers_mask)
            np.testing.assert_array_equal(here.strangers_seen, there.strangers_seen)
            # Scripts have roles of their own, and so have those that were trained in smaller teams.
            assert ours.role == theirs.role or index >= scenario.count or trained_in
            balls, told = balls + bool(here.ball_mask), told + int(here.told_mask.sum())
            unseen += int((here.strangers_mask & ~here.strangers_seen).sum())
        if step % 8 == 0:
            command = random.uniform(*scenario.command_limits, command.shape).astype(np.float32)
        sim.step(command)
    assert worst < TOLERANCE
    assert balls > 60
    assert told > 30 and unseen > 30
    assert sim.world.referee.restarts[0] > 0


CONTENT = to_dict(load_scenario("soccer_2v2"))


def test_a_command_crosses_as_a_velocity_and_comes_back_as_the_same_acceleration():
    own = Estimate(np.zeros(3), quat_from_yaw(np.float64(2.0)), np.array([0.7, -1.1, 0.0]), np.zeros(3))
    command = np.array([1.5, -2.0, 3.0, 4.5])
    moved, kick = messages.PlayerCommands("blue_0", 0.04)(command, own, 12.5)
    assert (moved.header.frame_id, moved.header.stamp.sec, kick.header.frame_id) == (
        "blue_0/base_link", 12, "blue_0/base_link"
    )  # fmt: skip
    (velocity, stamp_s), (speed, _) = messages.twist_to(moved), messages.kick_to(kick)
    ahead = np.cos(2.0) * (0.7 + 1.5 * 0.04) + np.sin(2.0) * (-1.1 - 2.0 * 0.04)
    assert velocity[0] == pytest.approx(ahead)  # by hand: the wanted velocity along the heading
    np.testing.assert_allclose(messages.acceleration_to(velocity, own, 0.04), command[:3], atol=1e-12)
    assert (stamp_s, speed) == (12.5, 4.5)
    still, _ = messages.PlayerCommands("blue_0", 0.04)(command, None, 12.5)
    np.testing.assert_array_equal(messages.twist_to(still)[0], np.zeros(3))  # who does not know where it is stops


def test_the_second_teams_field_is_the_map_turned_by_half_a_turn():
    there = Estimate(np.array([1.0, 2.0, 0.0]), quat_from_yaw(np.float64(0.5)), np.array([0.3, -0.4, 0.0]), np.ones(3))
    seen = away_frame.turned(there)
    np.testing.assert_allclose(seen.pos_m, [-1.0, -2.0, 0.0])
    np.testing.assert_allclose(seen.vel_m_s, [-0.3, 0.4, 0.0])
    assert abs(yaw_of(seen.quat_wxyz) - (0.5 - np.pi)) < 1e-12
    again = away_frame.turned(seen)
    for once, twice in zip(there[:1] + there[2:], again[:1] + again[2:], strict=True):
        np.testing.assert_allclose(once, twice)


def test_what_is_told_of_ball_and_opponents_gets_older_on_its_way():
    pos, vel = np.array([[1.0, 0.5, 0.0], [2.0, -1.0, 0.0]]), np.array([[-2.0, 0.0, 0.0], [0.0, 0.7, 0.0]])
    seen = Detections(("ball", "opponent_1"), pos, vel, 0.04)
    plan = Plan(np.zeros(3), np.zeros(3), np.zeros(3))
    message = convert.broadcast_from(Broadcast(np.zeros(3), np.zeros(3), plan, seen), 5.0, "blue_1", (0.1, 0.2))
    said, stamp_s = fast_messages.broadcast_reader()(serialize_message(message))
    assert said.seen is not None
    assert (stamp_s, said.seen.age_s, said.seen.kinds) == (5.0, pytest.approx(0.04), seen.kinds)
    sensed = Playing(CONTENT, 0, 2).sensed(None, None, TeamSnapshot(5.1, PoseHistory(), ((said, 0.1),)))
    assert sensed.told_mask.tolist() == [True]
    assert sensed.told_age_s[0] == pytest.approx(0.14)
    np.testing.assert_allclose(sensed.told_pos_m[0], pos[0])
    assert (sensed.strangers_mask.tolist(), sensed.strangers_seen.any()) == ([False, True], False)
    assert sensed.strangers_age_s[1] == pytest.approx(0.14)
    np.testing.assert_allclose((sensed.strangers_pos_m[1], sensed.strangers_vel_m_s[1]), (pos[1], vel[1]))
    assert Playing(CONTENT, 0, 2).told(sensed, 0.0) is None, "what it was told it does not pass on"
    late = Playing(CONTENT, 0, 2).sensed(None, None, TeamSnapshot(5.1, PoseHistory(), ((said, 0.6),)))
    assert late.told_mask.tolist() == [False]  # radio.max_age_s is 0.5 s
    assert not np.any(late.told_pos_m) and not late.strangers_mask.any()


def test_a_picture_is_put_where_the_robot_was_when_it_was_taken():
    """The robot turned and drove since: the ball stays where it was seen from."""
    history = PoseHistory()
    history.add(Estimate(np.array([1.0, 0, 0]), quat_from_yaw(np.float64(np.pi / 2)), np.zeros(3), np.zeros(3)), 1.0)
    history.add(Estimate(np.array([1.5, 0, 0]), quat_from_yaw(np.float64(0.0)), np.ones(3), np.zeros(3)), 1.04)
    thing = Thing("ball", np.array([2.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    other = Thing("opponent_1", np.array([1.0, 1.0, 0.0]), np.zeros(3))
    chair = Thing("chair", np.ones(3), np.ones(3))
    sensed = Playing(CONTENT, 0, 2).sensed(
        Sighting(1.0, (chair, other, thing)), 1.3, TeamSnapshot(1.05, history, ((None, 9.0),))
    )
    np.testing.assert_allclose(sensed.ball_pos_m, [1.0, 2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(sensed.ball_vel_m_s, [-1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(sensed.strangers_pos_m, [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]], atol=1e-12)
    assert sensed.strangers_mask.tolist() == [False, True]
    assert (sensed.ball_age_s, sensed.charge_s) == (pytest.approx(0.05), pytest.approx(0.25))


@pytest.mark.parametrize(
    ("roles", "said"),
    [(["keeper", "keeper"], "roles names 2 keepers; a team may have one"), (["goalie", "keeper"], "'goalie' in roles")],
)
def test_teams_that_cannot_line_up_are_refused(roles: list[str], said: str):
    with pytest.raises(UserError, match=said):
        check_roles({**CONTENT, "roles": roles})
