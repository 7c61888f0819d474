"""What is wrong with poses is named, and not flown."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.core.filter.params import from_vehicle
from robomarl.core.geometry import quat_from_yaw
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.jumps import reach_of
from robomarl.vehicles.conversion.frames import quat_from_roll_pitch_yaw, swap_body
from robomarl.vehicles.mocap.frame_judge import FrameJudge
from robomarl.vehicles.mocap.tracker import PoseTracker, Quality, SensedPose, TrackRules
from tests.ros.vehicles.test_adapter_plausible import flown, mirrored

UP = np.array([1.0, 0.0, 0.0, 0.0])
VEHICLE = load_any_vehicle("crazyflie_21")
REACH = reach_of(from_vehicle(VEHICLE, 0.02))
RULES = TrackRules(settled_m_s=VEHICLE.safety.velocity_error_m_s)
DT_S = 0.01
AGE_S = 0.012
"""From the picture until the pose is here."""


class Camera:
    """A tracker, and poses for it."""

    def __init__(self, rules: TrackRules = RULES) -> None:
        self.tracker, self.now_s, self.rng = PoseTracker(rules, REACH), 1000.0, np.random.default_rng(0)

    def see(self, pos: object = (0.0, 0.0, 1.0), quat: np.ndarray = UP, dt_s: float = DT_S, noise_m: float = 0.0003):
        """A pose `dt_s` later; returns the estimate, if there is one."""
        self.now_s += dt_s
        seen = np.array(pos, float) + self.rng.normal(size=3) * noise_m
        return self.tracker.take(SensedPose(seen, quat, self.now_s - AGE_S), self.now_s)

    def settle(self, seconds: float = 1.0, **pose: object) -> Estimate:
        """It stands still until it is seen well."""
        for _ in range(round(seconds / DT_S)):
            found = self.see(**pose)  # type: ignore[arg-type]
        assert found is not None and self.quality is Quality.GOOD, self.status
        return found

    @property
    def status(self):
        return self.tracker.status(self.now_s)

    @property
    def quality(self) -> Quality:
        return self.status.quality


def test_a_body_that_stands_is_good_after_it_has_settled():
    camera = Camera()
    assert camera.quality is Quality.WAITING
    assert camera.see() is None and camera.quality is Quality.SETTLING
    found = camera.settle()
    assert found.pos_m == pytest.approx([0, 0, 1], abs=0.001)
    assert np.abs(found.vel_m_s).max() < VEHICLE.safety.velocity_error_m_s
    assert camera.status.age_s == pytest.approx(AGE_S)
    assert camera.status.rate_hz == pytest.approx(100, rel=0.01)


def test_a_jump_of_a_metre_is_refused_until_poses_come_back():
    camera = Camera()
    camera.settle()
    for _ in range(50):
        assert camera.see((1.0, 0.0, 1.0)) is None
    assert camera.quality is Quality.JUMPED
    assert "jumped by 1.0" in camera.status.why
    found = camera.settle()
    assert found.pos_m == pytest.approx([0, 0, 1], abs=0.01)


@pytest.mark.parametrize("apart_m", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("gap_s", [DT_S, 0.3, 1.9, 2.5])
def test_a_jump_that_stays_is_refused_for_as_long_as_it_stays(apart_m: float, gap_s: float):
    """Also where it is hidden again and again meanwhile."""
    camera = Camera()
    camera.settle()
    for k in range(600):
        assert camera.see((apart_m, 0.0, 1.0), dt_s=gap_s if k % 200 == 0 else DT_S) is None, k
    assert camera.quality is Quality.JUMPED


def test_a_body_that_may_be_carried_is_where_its_poses_are():
    camera = Camera()
    camera.settle()
    camera.tracker.carried = True
    assert camera.see((1.0, 0.0, 1.0)) is None and camera.quality is Quality.SETTLING
    assert camera.settle(pos=(1.0, 0.0, 1.0)).pos_m[0] == pytest.approx(1.0, abs=0.001)


@settings(max_examples=25)
@given(
    direction=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda d: math.hypot(*d) > 0.1),
    size_m=st.floats(0.3, 30),
    gap=st.integers(1, 10),
)
def test_no_jump_is_ever_told_on(direction: tuple, size_m: float, gap: int):
    """Whatever its size and direction, and after up to a tenth of a second without poses."""
    camera = Camera()
    camera.settle(0.5)
    there = np.array([0.0, 0.0, 1.0]) + np.array(direction) / math.hypot(*direction) * size_m
    assert camera.see(there, dt_s=gap * DT_S) is None
    assert camera.quality is Quality.JUMPED


def test_markers_that_are_taken_for_each_other_are_refused():
    camera = Camera()
    camera.settle()
    assert camera.see(quat=quat_from_yaw(np.float64(2.0))) is None
    assert "turned by 115 degrees" in camera.status.why and "degrees and read as radians" in camera.status.why


def test_a_body_that_is_not_seen_is_lost_and_after_long_it_has_to_be_reset():
    camera = Camera()
    camera.settle()
    camera.now_s += RULES.lost_s + 0.1
    assert camera.quality is Quality.LOST and "no pose for 0.4 s" in camera.status.why
    camera.settle(0.2)
    camera.now_s += RULES.restart_s
    for _ in range(300):
        assert camera.see() is None
    assert camera.quality is Quality.JUMPED and "not seen for 2.0 s, and can be anything: reset it" in camera.status.why


@pytest.mark.parametrize(
    ("pos", "quat", "why"),
    [
        ((1200.0, 300.0, 800.0), UP, "millimetres"),
        ((0, 0, 1), np.array([0.0, 0.0, 0.0, 90.0]), "length 90, not 1; are they angles in degrees"),
        ((0, 0, 1), np.zeros(4), "length 0"),
        ((math.nan, 0, 1), UP, "not finite"),
        ((0, 0, -1), np.array([0.0, 1.0, 0.0, 0.0]), "upside down: NED"),
        ((0, 1, 0), np.array([math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0]), "y up is read as one with z up"),
    ],
)
def test_wrong_units_and_frames_are_named_and_not_flown(pos: tuple, quat: np.ndarray, why: str):
    camera = Camera()
    for _ in range(300):
        assert camera.see(pos, quat) is None
    assert camera.quality is Quality.IMPLAUSIBLE and why in camera.status.why


@pytest.mark.parametrize(("age_s", "why"), [(-0.5, "0.50 s ahead"), (1.0, "1.00 s old when they come")])
def test_stamps_of_another_clock_are_named(age_s: float, why: str):
    camera = Camera()
    for _ in range(20):
        camera.now_s += DT_S
        assert camera.tracker.take(SensedPose(np.zeros(3), UP, camera.now_s - age_s), camera.now_s) is None
    assert camera.quality is Quality.STAMPS and why in camera.status.why


def test_stamps_that_stand_still_end_in_a_lost_body():
    camera = Camera()
    camera.settle()
    stamp_s = camera.now_s - AGE_S
    for _ in range(50):
        camera.now_s += DT_S
        assert camera.tracker.take(SensedPose(np.array([0, 0, 1.0]), UP, stamp_s), camera.now_s) is None
    assert camera.quality is Quality.LOST


def test_noise_is_named_and_told_on():
    camera = Camera()
    camera.settle()
    told = [camera.see(noise_m=0.004) for _ in range(200)]
    assert camera.quality is Quality.NOISY and "scatter" in camera.status.why
    assert sum(found is not None for found in told) > 190


def test_poses_that_are_too_seldom_do_not_settle():
    camera = Camera()
    for _ in range(40):
        assert camera.see(dt_s=0.2) is None
    assert camera.quality is Quality.SETTLING and "at 5 Hz the velocity is known to" in camera.status.why


def judge(mistake: str) -> FrameJudge:
    """A vehicle turned and moved by hand, as a camera with a mistake and its inertial unit tell of it."""
    track, found = flown(3), FrameJudge()
    assert track.force_m_s2 is not None
    pos, vel, quat, rates = track.pos_m, track.vel_m_s, track.quat_wxyz, track.omega_rad_s
    if mistake == "mirrored":
        pos, vel = mirrored(pos), mirrored(vel)
        quat = quat * [1.0, -1.0, 1.0, -1.0]
    rates = np.rad2deg(rates) if mistake == "degrees" else rates
    rates, force = (swap_body(rates), swap_body(track.force_m_s2)) if mistake == "frd" else (rates, track.force_m_s2)
    for k, t in enumerate(track.time_s):
        found.take(Estimate(pos[k], quat[k], vel[k], rates[k]), float(t), rates[k], force[k])
    return found


@pytest.mark.parametrize(
    ("mistake", "why"),
    [("mirrored", "left-handed"), ("degrees", "degrees and read as radians"), ("frd", "FRD and read as FLU")],
)
def test_frames_that_the_inertial_unit_contradicts_are_named(mistake: str, why: str):
    found = judge(mistake)
    assert why in found.problem and not found.over


def test_sound_frames_are_found_sound_and_nothing_is_said_before_it_moves():
    assert judge("").over
    still = FrameJudge()
    for k in range(500):
        own = Estimate(np.zeros(3), UP, np.zeros(3), np.zeros(3))
        still.take(own, k * 0.02, np.zeros(3), np.array([0.0, 0.0, 9.81]))
    assert not still.problem and not still.over
    assert [law for law in still.unjudged if law.startswith("rates")]


def test_a_slow_roll_is_no_flip():
    camera = Camera()
    camera.settle()
    for k in range(200):
        quat = quat_from_roll_pitch_yaw(np.array([0.0, 0.01 * k, 0.05 * k]))
        assert camera.see(quat=quat) is not None, camera.status


@pytest.mark.parametrize("degrees", [20.5, 45.0, 90.0, 180.0])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (1, -2, 3)])
@pytest.mark.parametrize("gap_s", [DT_S, 0.3])
def test_a_flip_of_the_attitude_is_refused_for_as_long_as_it_lasts_and_no_longer(degrees: float, axis, gap_s: float):
    camera, half = Camera(), math.radians(degrees) / 2
    camera.settle()
    flipped = np.array([math.cos(half), *(math.sin(half) * np.array(axis) / np.linalg.norm(axis))])
    for k in range(300):
        assert camera.see(quat=flipped, dt_s=gap_s if k == 0 else DT_S) is None, k
    assert f"turned by {degrees:.0f}" in camera.status.why
    camera.see()
    assert camera.see() is not None, camera.status


def test_a_clock_that_is_set_back_is_no_way_to_another_place():
    camera = Camera()
    camera.settle()
    camera.now_s -= 100.0
    for _ in range(300):
        assert camera.see((1.0, 0.0, 1.0)) is None
    camera = Camera()
    camera.settle()
    camera.now_s -= 100.0
    assert camera.see() is not None


@pytest.mark.parametrize("rate_hz", [20, 30, 100, 300])
def test_a_body_that_was_hidden_is_good_again_at_every_rate_that_is_enough(rate_hz: int):
    camera = Camera(TrackRules(settled_m_s=0.2))
    for k in range(3 * rate_hz):
        found = camera.see(dt_s=0.3 if k == 2 * rate_hz else 1 / rate_hz)
    assert found is not None, camera.status
