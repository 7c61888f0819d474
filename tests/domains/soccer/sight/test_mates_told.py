"""Two players of a team of three through their messages: one sees the other, which is told where it was."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

from robomarl.core.bundle.perception import open_perception
from robomarl.core.camera.strip import GroundStrip
from robomarl.core.config import to_dict
from robomarl.core.geometry import quat_from_yaw
from robomarl.core.view import Plan
from robomarl.domains.soccer.core.mates_in_sight import NOW_S
from robomarl.domains.soccer.core.sight.layout import SightLayout
from robomarl.domains.soccer.ros.playing import Playing, blank
from robomarl.domains.soccer.ros.seeing import SeeingPlayer
from robomarl.domains.soccer.ros.topics import KICKER
from robomarl.lab.sim.scenario import load_scenario
from robomarl.ros.camera.image_reader import CameraSight
from robomarl.ros.io.away_frame import turned_broadcast
from robomarl.ros.io.messages import Broadcast, Estimate, PoseHistory, TeamSnapshot
from tests.core.bundle.seeing import CAMERA, network, seeing_bundle

STRIP = np.zeros(GroundStrip().shape, np.uint8)
STILL, PERIOD_S, FAR_M = np.zeros(3), 0.04, 0.8
HERE = np.array([0.5, -0.2, 0.0])
"""Place of the first robot by its belief; it looks along x, and sees a mate 0.8 m ahead of its camera."""
SEEN = HERE + [FAR_M + CAMERA.place_m[0], 0.0, 0.0]


def said(pos: np.ndarray, seen: Any = None) -> Broadcast:
    return Broadcast(pos, STILL, Plan(pos, STILL, pos), seen)


def sees(layout: SightLayout, place: np.ndarray) -> np.ndarray:
    """The network's output: the field, and a mate."""
    vector = dict.fromkeys(layout.names, 0.0) | {"mate0.probability": 0.99, "mate0.range_m": FAR_M}
    vector |= {"mate0.azimuth_error_rad": 0.01, "mate0.log_range_error": 0.02, "pose.cos_double": 1.0}
    vector |= {"pose.centre_x": -place[0], "pose.centre_y": -place[1]}
    vector |= {"pose.centre_error": 0.02, "pose.heading_error": 0.02}
    return np.array(list(vector.values()), np.float32)


@pytest.mark.parametrize("away", [False, True])
def test_a_player_tells_which_teammate_it_sees_and_where_that_was(tmp_path: Path, away: bool):
    layout, content = SightLayout(), to_dict(load_scenario("soccer_3v3"))
    perception = open_perception(seeing_bundle(tmp_path, network(layout.size)))
    assert perception is not None
    playing, other = Playing(content, 0, 3), Playing(content, 2, 3)
    player = SeeingPlayer(perception, playing, 3)
    facing = np.asarray(quat_from_yaw(np.float64(0.0)))
    near, far = said(SEEN + [0.3, 0.1, 0.0]), said(np.array([-1.0, 1.0, 0.0]))
    for k in range(1, 12):
        now_s = k * PERIOD_S
        player.placed(Estimate(HERE, facing, STILL, STILL), now_s)
        player.hear("", CameraSight(now_s - PERIOD_S, STRIP, sees(layout, HERE)), PoseHistory())
    snapshot = TeamSnapshot(now_s, PoseHistory(), ((far, 0.02), (near, 0.02)))
    sensed: Any = player.sensed({KICKER.name: None}, snapshot)
    assert sensed.mates_mask.tolist() == [False, True], "the third robot"
    np.testing.assert_allclose(sensed.mates_pos_m[1], SEEN, atol=0.02)
    told = playing.told(sensed, 0.01)
    assert told is not None and told.kinds == ("mate_2",)

    message = said(HERE, told)
    heard = turned_broadcast(turned_broadcast(message)) if away else message
    back = other.mates_seen(blank(2), TeamSnapshot(now_s, PoseHistory(), ((heard, 0.04), (far, 0.02))))
    assert back.by_mask.tolist() == [True, False]
    np.testing.assert_allclose(back.by_pos_m[0], SEEN, atol=0.02)


def test_mates_in_a_message_leave_the_age_of_ball_and_opponents_as_it_was():
    playing = Playing(to_dict(load_scenario("soccer_2v2")), 0, 2)
    snapshot = TeamSnapshot(0.0, PoseHistory(), ((None, np.inf),))
    plain: Any = playing.sensed(None, None, snapshot)
    plain = plain._replace(ball_mask=np.bool_(True), ball_age_s=np.float64(0.3))
    seen = plain._replace(mates_mask=np.ones(1, bool), mates_age_s=np.full(1, 0.04))
    ages = [playing.told(sensed, 0.01) for sensed in (plain, seen)]
    assert ages[0] and ages[1] and ages[0].age_s == ages[1].age_s == pytest.approx(0.29)
    assert ages[1].kinds == ("ball", "mate_1")
    old = seen._replace(mates_age_s=np.full(1, NOW_S + 0.02))
    assert (told := playing.told(old, 0.01)) and told.kinds == ("ball",)
