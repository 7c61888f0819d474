"""The league's pictures become estimates; what can't be is named, and not told on."""

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("google.protobuf")

from robomarl.core.geometry import yaw_of
from robomarl.domains.soccer.vehicles.ssl.addresses import Shirt
from robomarl.domains.soccer.vehicles.ssl.ball_track import BallTrack
from robomarl.domains.soccer.vehicles.ssl.league_messages import league_messages
from robomarl.domains.soccer.vehicles.ssl.vision import FieldRules, VisionTracks
from robomarl.ros.robot.jumps import Reach
from robomarl.vehicles.mocap.motion_filter import PoseNoise
from robomarl.vehicles.mocap.tracker import Quality, TrackRules

OURS = Shirt("blue", 3)
SHIRTS = [OURS, Shirt("yellow", 0)]
NOISE = PoseNoise(0.0013, 0.01)
REACH = Reach(2.0, 3.3, 0.02, 0.05, (3.3, 3.3, 0.0), 0.2, planar=True)
TRACK = TrackRules(NOISE, 0.05, 0.2)
PERIOD_S = 0.02


def tracks(**changes: Any) -> VisionTracks:
    found = VisionTracks(SHIRTS, FieldRules(TRACK, REACH, (9.0, 6.0), **changes))
    found.take(field(9000, 6000), 0.0)
    return found


def field(length: int, width: int) -> Any:
    packet = league_messages().wrapper()
    size = packet.geometry.field
    size.field_length, size.field_width, size.goal_width, size.goal_depth, size.boundary_width = (
        length, width, 1000, 180, 300,
    )  # fmt: skip
    return packet


def picture(at_s: float, x_m: float, y_m: float, yaw: float, shirt: Shirt = OURS, camera: int = 0) -> Any:
    packet = league_messages().wrapper()
    frame = packet.detection
    frame.frame_number, frame.camera_id, frame.t_capture, frame.t_sent = 0, camera, at_s, at_s
    rows = frame.robots_blue if shirt.colour == "blue" else frame.robots_yellow
    place = {"x": 1000 * x_m, "y": 1000 * y_m, "orientation": yaw}
    rows.add(confidence=0.9, robot_id=shirt.number, pixel_x=0.0, pixel_y=0.0, **place)
    return packet


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("count", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_frames_and_units_of_places_anywhere(turned: bool, count: int):
    """Millimetres and radians into the map, or the map turned by half a turn, to 1e-6 (a float has 7 digits)."""
    random, found = np.random.default_rng(5), tracks(turned=turned)
    for k in range(count):
        x, y, yaw = random.uniform((-4.5, -3, -math.pi), (4.5, 3, math.pi)).astype(np.float32).tolist()
        found.forget(OURS)
        for step in range(8):
            found.take(picture(k + step * PERIOD_S, x, y, yaw), k + step * PERIOD_S)
        own, _ = found.seen.pop(OURS)
        side = -1 if turned else 1
        assert own.pos_m == pytest.approx([side * x, side * y, 0.0], abs=1e-6)
        assert abs(math.remainder(float(yaw_of(own.quat_wxyz)) - yaw - math.pi * turned, 2 * math.pi)) < 1e-6
        assert np.abs(own.vel_m_s).max() < 1e-4


def test_velocity_of_a_robot_that_drives_a_circle_with_the_leagues_noise():
    random, found, off = np.random.default_rng(1), tracks(), []
    for k in range(400):
        angle = 1.5 * k * PERIOD_S  # 1.5 m/s on a radius of 1 m
        noise = random.normal(0, (0.0013, 0.0013, 0.01))
        x, y, yaw = np.array([math.cos(angle), math.sin(angle), angle]) + noise
        found.take(picture(k * PERIOD_S, x, y, math.remainder(yaw, 2 * math.pi)), k * PERIOD_S)
        if k > 50:
            off.append(found.seen[OURS][0].vel_m_s[:2] - 1.5 * np.array([-math.sin(angle), math.cos(angle)]))
    assert np.sqrt(np.mean(np.square(off))) < 0.06
    assert found.status(OURS, 400 * PERIOD_S).quality is Quality.GOOD


def feed(found: VisionTracks, begin_s: float, count: int, **where: Any) -> list[Shirt]:
    at = {"x_m": 1.0, "y_m": 0.5, "yaw": 0.3, **where}
    moved = []
    for k in range(count):
        moved += found.take(picture(begin_s + k * PERIOD_S, **at), begin_s + k * PERIOD_S)[0]
    return moved


def test_another_field_strangers_and_silence_stand_against_playing():
    found = VisionTracks(SHIRTS, FieldRules(TRACK, REACH, (9.0, 6.0)))
    assert "has not said how large" in found.problem(0.0)
    found.take(field(12000, 9000), 0.0)
    assert found.problem(0.0) == "vision's field is 12 x 9 m, the fleet's scenario is for 9 x 6"
    found.take(field(9000, 6000), 0.0)
    assert found.problem(0.0) == ""
    feed(found, 1.0, 9, shirt=Shirt("yellow", 7))
    assert found.problem(1.2) == "", "seen nine times: perhaps it was nothing"
    feed(found, 1.2, 1, shirt=Shirt("yellow", 7))
    assert "vision sees yellow 7, which is no robot of the fleet" in found.problem(1.3)
    assert found.problem(3.0) == "", "it was taken away"


def test_degrees_jumps_another_clock_and_unsure_robots_are_not_told_on():
    found = tracks()
    assert feed(found, 0.0, 20), "it is seen"
    assert not feed(found, 0.4, 3, yaw=90.0)
    assert "degrees are read as radians" in found.status(OURS, 0.46).why
    assert not feed(found, 0.46, 3, x_m=2.0) and found.status(OURS, 0.5).quality is Quality.JUMPED
    assert not feed(found, 0.52, 150, x_m=2.0), "for as long as it is there"
    found.may_be_put(OURS, True)
    assert feed(found, 3.52, 30, x_m=2.0), "it was put there"
    packet = picture(50.0, 1.0, 0.5, 0.3)
    assert found.take(packet, 60.0) == ([], False)
    assert "poses are 10.00 s old" in found.status(OURS, 60.0).why


def test_patterns_that_are_read_for_each_other_and_one_that_is_read_twice_are_not_told_on():
    for gap_s in (0.0, 0.3, 1.0):
        found, other, told = tracks(), SHIRTS[1], []
        places = {OURS: 0.0, other: 0.4}
        for k in range(150):
            begin_s = k * PERIOD_S + gap_s * (k >= 20)
            shown = (OURS, other) if k < 20 else (other, OURS)
            for label, body in zip((OURS, other), shown, strict=True):
                moved, _ = found.take(picture(begin_s, places[body], 0.0, 0.3, label), begin_s)
                told += moved if k >= 20 else []
        assert not told, gap_s
    found = tracks()
    feed(found, 0.0, 20)
    packet = picture(0.4, 1.0, 0.5, 0.3)
    packet.detection.robots_blue.add().CopyFrom(packet.detection.robots_blue[0])
    packet.detection.robots_yellow.extend(picture(0.4, 0.0, 0.0, 0.0, SHIRTS[1]).detection.robots_yellow)
    assert found.take(packet, 0.4)[0] == [] and "two robots" in found.status(OURS, 0.4).why
    assert found.status(SHIRTS[1], 0.4).quality is Quality.SETTLING, "the other one is seen"


@pytest.mark.parametrize("degrees", [21, 90, 180])
def test_an_orientation_that_flips_is_refused_for_as_long_as_it_lasts(degrees: float):
    found = tracks()
    assert feed(found, 0.0, 20)
    assert not feed(found, 0.4, 150, yaw=0.3 + math.radians(degrees))


def test_of_two_cameras_that_see_a_robot_a_little_apart_one_tells():
    found, seen = tracks(), []
    for k in range(40):
        at_s = k * PERIOD_S
        found.take(picture(at_s, 1.0, 0.0, 0.0, camera=1), at_s)
        found.take(picture(at_s + 0.005, 1.05, 0.0, 0.0, camera=2), at_s + 0.005)
        seen += [found.seen[OURS][0].pos_m[0]] if OURS in found.seen else []
    assert np.ptp(seen) < 1e-3
    assert feed(found, 2.0, 40, camera=2, y_m=0.0, yaw=0.0), "the other one takes over"


def ball_at(places: list[float], off: list[float] | None = None) -> BallTrack:
    track = BallTrack()
    for k, x in enumerate(places):
        balls = [np.array([x, 0.0]), *(np.array([other, 1.0]) for other in off or ())]
        track.take(balls[::-1], 10 + k * PERIOD_S)
    return track


def test_a_ball_that_rolls_is_kicked_and_has_a_second_thing_beside_it():
    rolls = [0.5 * k * PERIOD_S for k in range(20)]
    place, vel = ball_at(rolls).at(10 + 19 * PERIOD_S)
    assert vel == pytest.approx([0.5, 0.0], abs=1e-6) and place == pytest.approx([rolls[-1], 0.0], abs=1e-6)
    kicked = [*rolls, *(rolls[-1] + 6.0 * (k + 1) * PERIOD_S for k in range(2))]
    track = ball_at(kicked)
    assert track.at(track.stamp_s)[1] == pytest.approx([6.0, 0.0], abs=1e-6), "two pictures after the kick"
    beside = BallTrack()
    beside.take([np.array([0.0, 0.0])], 10.0)
    for k, x in enumerate(rolls):
        beside.take([np.array([3.0, 1.0]), np.array([x, 0.0])], 10.02 + k * PERIOD_S)
    assert beside.at(beside.stamp_s)[1] == pytest.approx([0.5, 0.0], abs=1e-3)
    assert not beside.take([np.array([3.0, 1.0])], beside.stamp_s + PERIOD_S), "no ball goes 3 m in a picture"
    assert beside.take([np.array([3.0, 1.0])], beside.stamp_s + 0.3), "after a while it may be anywhere"
