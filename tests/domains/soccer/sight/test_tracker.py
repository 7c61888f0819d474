"""The tracker: own pose, ball and opponents over time, from sights that are written by hand."""

import math

import numpy as np
import pytest

from robomarl.domains.soccer.core.features import Picture
from robomarl.domains.soccer.core.sight.layout import SeenPose, Sight, SightLayout, Spot
from robomarl.domains.soccer.core.sight.own_pose import SEEING_RAD, turned
from robomarl.domains.soccer.core.sight.reports import in_own_order
from robomarl.domains.soccer.core.sight.tracker import Believed, Odometry, SightState, SightTracker

CAMERA_X_M, DT_S = 0.06, 0.04
NOTHING = Spot(0.0, 0.0, 1.0, 0.1, 0.1)
TRACKER = SightTracker(2, CAMERA_X_M)


def spot(pose: np.ndarray, place: np.ndarray) -> Spot:
    """Return the exact spot of a place on the field."""
    x, y = turned(pose[2]).T @ (place - pose[:2]) - [CAMERA_X_M, 0.0]
    return Spot(0.99, math.atan2(y, x), math.hypot(x, y), 0.01, 0.02)


def sight(
    pose: np.ndarray,
    stamp_s: float,
    ball: Spot = NOTHING,
    others: tuple[Spot, ...] = (),
    mates: tuple[Spot, ...] = (),
) -> Sight:
    x, y = -turned(pose[2]).T @ pose[:2]
    half = (pose[2] + math.pi / 2) % math.pi - math.pi / 2
    return Sight(stamp_s, ball, others, mates, SeenPose((x, y), half, 0.05, 0.03))


def run(pictures: list[Sight | None], motion: Odometry, start: np.ndarray) -> tuple[SightState, list[Believed]]:
    state, found = TRACKER.start(0.0, start), []
    for k, picture in enumerate(pictures):
        state, believed = TRACKER.step(state, picture, motion, (k + 1) * DT_S)
        found.append(believed)
    return state, found


def test_the_layout_reads_what_it_names():
    layout = SightLayout()
    assert len(layout.names) == layout.size == 36
    vector = np.zeros(36, np.float32)
    vector[layout.names.index("opponent1.range_m")] = 2.5
    vector[layout.names.index("pose.sin_double")] = 1.0
    read = layout.read(vector, 3.0)
    assert read.opponents[1].range_m == 2.5 and read.pose.half_turns_rad == pytest.approx(math.pi / 4)
    with pytest.raises(ValueError, match="35 numbers; the layout has 36"):
        layout.read(vector[1:], 0.0)


@pytest.mark.parametrize("heading", [0.3, 2.8])
def test_pictures_mend_a_wrong_start(heading: float):
    """A robot at rest that starts 0.3 m and 0.2 rad off is right after two seconds, on its own half of the field."""
    truth = np.array([-1.2, 0.4, heading])
    _, found = run([sight(truth, k * DT_S) for k in range(50)], Odometry(0, 0, 0), truth + [0.25, -0.15, 0.2])
    assert found[-1].pose == pytest.approx(truth, abs=0.02)
    assert found[-1].position_error_m < found[0].position_error_m / 3


def test_a_late_picture_of_a_turning_robot():
    """The robot drives at 1 m/s and turns at 3 rad/s; each picture is one period old, and the pose is that of now."""
    poses, pose = [], np.array([-1.0, -0.5, 0.0])
    for _ in range(60):
        poses.append(pose)
        middle = pose[2] + 1.5 * DT_S
        pose = np.array([*(pose[:2] + turned(middle) @ [DT_S, 0.0]), pose[2] + 3 * DT_S])
    poses.append(pose)
    _, found = run([sight(poses[k], k * DT_S) for k in range(60)], Odometry(1.0, 0.0, 3.0), poses[0])
    off = found[-1].pose - pose
    assert np.hypot(*off[:2]) < 0.02 and abs(math.remainder(off[2], math.tau)) < 0.02


def test_a_ball_that_is_kicked_has_its_speed_after_two_pictures():
    """It lies for a second, and then leaves at 4 m/s."""
    pose, pictures = np.array([-1.0, 0.0, 0.0]), []
    for k in range(30):
        ball = np.array([-0.5 + 4.0 * max(0, k - 25) * DT_S, 0.0])
        pictures.append(sight(pose, k * DT_S, spot(pose, ball)))
    _, found = run(pictures, Odometry(0, 0, 0), pose)
    assert abs(found[24].picture.vel_m_s[0, 0]) < 0.1
    assert found[27].picture.vel_m_s[0, 0] == pytest.approx(4.0, abs=0.8)
    now = found[29].picture.pos_m[0, 0] + found[29].picture.age_s[0] * found[29].picture.vel_m_s[0, 0]
    assert now == pytest.approx(-0.5 + 4.0 * 5 * DT_S, abs=0.05)


def test_a_ball_out_of_sight_is_told_for_a_while():
    """The robot turns away: the ball is told for `ball_hold_s`, at its place, and then no longer."""
    pose, ball = np.array([0.0, 0.0, 0.0]), np.array([0.6, 0.2])
    away = np.array([0.0, 0.0, math.pi])
    state, _ = run([sight(pose, k * DT_S, spot(pose, ball)) for k in range(20)], Odometry(0, 0, 0), pose)
    known, time_s = [], 20 * DT_S
    for k in range(25):
        turn = math.pi / DT_S if k == 0 else 0.0
        time_s += DT_S
        state, believed = TRACKER.step(state, sight(away, time_s), Odometry(0, 0, turn), time_s)
        known.append(bool(believed.picture.mask[0]))
        if known[-1]:
            assert believed.picture.pos_m[0, :2] == pytest.approx(ball, abs=0.05)
    assert known[5] and not known[-1]


def test_a_ball_that_should_show_and_does_not_is_given_up():
    pose, ball = np.array([0.0, 0.0, 0.0]), np.array([0.6, 0.2])
    shown = [sight(pose, k * DT_S, spot(pose, ball)) for k in range(20)]
    hidden = [sight(pose, (20 + k) * DT_S) for k in range(6)]
    _, found = run([*shown, *hidden], Odometry(0, 0, 0), pose)
    assert found[21].picture.mask[0] and not found[25].picture.mask[0]


def test_opponents_keep_their_rows():
    """Two opponents pass each other; each row follows one, whatever the order of the spots."""
    pose = np.array([-1.5, 0.0, 0.0])
    pictures: list[Sight | None] = []
    for k in range(40):
        first, second = np.array([0.0, -0.6 + 0.03 * k]), np.array([0.6, 0.6 - 0.03 * k])
        spots = [spot(pose, first), spot(pose, second)]
        pictures.append(sight(pose, k * DT_S, others=tuple(spots if k % 2 else spots[::-1])))
    _, found = run(pictures, Odometry(0, 0, 0), pose)
    found_x = [believed.picture.pos_m[1:, 0] for believed in found[5:]]
    assert np.ptp([x[0] for x in found_x]) < 0.1 and np.ptp([x[1] for x in found_x]) < 0.1
    assert abs(found_x[-1][0] - found_x[-1][1]) == pytest.approx(0.6, abs=0.1)


def test_mates_reports_come_in_the_own_order():
    places = np.array([[0.0, 0, 0], [1.0, 0.5, 0], [-1.0, 0.2, 0]])
    own = Picture(np.array([False, True, False]), places, places * 0, np.zeros(3))
    told = Picture(np.ones((1, 3), bool), places[None, [0, 2, 1]] + 0.05, 0 * places[None], np.zeros((1, 3)))
    assert in_own_order(own, told).pos_m[0, 1:] == pytest.approx(places[1:] + 0.05)


@pytest.mark.parametrize("hz", [25, 100, 400])
def test_what_odometry_leaves_open_does_not_depend_on_its_rate(hz: int):
    """After 10 s at rest: 0.02 rad and 0.02 m times the root of 10; after 10 m: 0.03 m times the root of 10 on top."""
    for speed, place_m in ((0.0, 0.02 * math.sqrt(10)), (1.0, math.hypot(0.02, 0.03) * math.sqrt(10))):
        state = TRACKER.start(0.0, np.zeros(3), (1e-6, 1e-6))
        for k in range(10 * hz):
            state, believed = TRACKER.step(state, None, Odometry(speed, 0, 0), (k + 1) / hz)
        assert believed.heading_error_rad == pytest.approx(0.02 * math.sqrt(10), rel=1e-3)
        assert math.sqrt(state.own.covariance.xx) == pytest.approx(place_m, rel=1e-3)


@pytest.mark.parametrize("hz", [25, 100, 200])
def test_late_pictures_of_a_turning_robot_are_right_however_often_odometry_comes(hz: int):
    """Pictures 0.18 s old, 25 a second, of a robot that turns with 3 rad/s."""
    turn, place = 3.0, np.array([-1.0, 0.3, 0.0])
    state = TRACKER.start(0.0, place)
    for k in range(2 * hz):
        now_s = (k + 1) / hz
        state, believed = TRACKER.step(state, None, Odometry(0, 0, turn), now_s)
        if (k + 1) % (hz // 25) == 0 and now_s > 0.2:
            then_s = now_s - 0.18
            state, believed = TRACKER.step(state, sight(place + [0, 0, turn * then_s], then_s), state.motion, now_s)
    off = believed.pose[2] - turn * now_s
    assert abs(math.remainder(off, math.tau)) < 0.03


def test_a_picture_from_before_the_odometry_changes_nothing():
    state = TRACKER.start(5.0, np.zeros(3))
    after, _ = TRACKER.step(state, sight(np.array([1.0, 1.0, 1.0]), 4.9), Odometry(0, 0, 0), 5.0)
    assert after.own == state.own


@pytest.mark.parametrize(("probability", "told"), [(0.9, [False, True]), (0.97, [True, True])])
def test_a_ball_is_begun_by_surer_pictures_than_an_opponent(probability: float, told: list[bool]):
    truth = np.array([0.0, 0.0, 0.0])
    ball, other = (
        spot(truth, np.array(place))._replace(probability=probability) for place in ([1.0, 0.3], [1.2, -0.4])
    )
    _, found = run([sight(truth, k * DT_S, ball, (other,)) for k in range(6)], Odometry(0, 0, 0), truth)
    assert found[-1].picture.mask[:2].tolist() == told


def test_mates_are_tracked_apart_from_opponents_and_by_surer_spots():
    """One that drives at 0.5 m/s, of the field's frame, is told within 3 cm; spots of 0.5 tell none."""
    truth, picture = np.array([0.3, -0.2, 0.4]), NOTHING
    for probability, told in ((0.99, True), (0.5, False)):
        pictures: list[Sight | None] = []
        for k in range(30):
            picture = spot(truth, np.array([1.0, 0.5 * k * DT_S]))._replace(probability=probability)
            pictures.append(sight(truth, k * DT_S, mates=(picture,)))
        _, found = run(pictures, Odometry(0, 0, 0), truth)
        mates = found[-1].mates
        assert mates.mask.tolist() == [told, False] and not found[-1].picture.mask.any()
        if told:
            now = mates.pos_m[0] + mates.age_s[0] * mates.vel_m_s[0]
            assert now[:2] == pytest.approx([1.0, 0.5 * 30 * DT_S], abs=0.03)


@pytest.mark.parametrize(("heading_rad", "told"), [(0.0499, True), (0.0501, False)])
def test_mates_are_told_while_the_own_heading_is_known_to_a_tenth_of_a_radian(heading_rad: float, told: bool):
    """Rows of mates in a picture reckon with headings that are off by two of these standard deviations."""
    pose, mate = np.zeros(3), np.array([1.0, 0.3])
    pictures: list[Sight | None] = [sight(pose, k * DT_S, mates=(spot(pose, mate),)) for k in range(6)]
    state, _ = run(pictures, Odometry(0.0, 0.0, 0.0), pose)
    spread = state.own.covariance._replace(hh=heading_rad**2)
    believed = TRACKER.believe(state._replace(own=state.own._replace(covariance=spread)))
    assert believed.mates.mask.any() == told and SEEING_RAD == 0.1
