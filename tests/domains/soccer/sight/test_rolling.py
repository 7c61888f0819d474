"""Rolling shutters: the time of a row, pictures of a robot that turns, and what the tracker makes of them."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import GroundStrip
from robomarl.domains.soccer.core.sight.layout import SeenPose, Sight, Spot
from robomarl.domains.soccer.core.sight.rolling import RollingShutter, lags_s, shutter_of
from robomarl.domains.soccer.core.sight.tracker import Odometry, SightTracker
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.pitch import camera_of, pitch_of
from robomarl.domains.soccer.lab.sight.renderer import make_renderer
from robomarl.domains.soccer.lab.sight.scene import SightScene, plain_look
from robomarl.lab.sim.scenario import load_scenario

TURN_RAD_S, READOUT_S, DT_S = 6.0, 0.03, 0.04
LEVEL = PinholeCamera(
    width=640, height=480, fx=100.0, fy=100.0, cx=319.5, cy=239.5, distortion=(0.0, 0.0, 0.0, 0.0, 0.0),
    place_m=(0.06, 0.0, 0.14), pitch_rad=0.0, rate_hz=25.0, latency_s=0.04, exposure_s=0.008, readout_s=READOUT_S,
)  # fmt: skip
NOTHING = Spot(0.0, 0.0, 1.0, 0.1, 0.1)
STRIP = GroundStrip(columns=192)


def test_rows_are_read_one_after_another():
    """A camera that looks level sees 45 degrees below in row 239.5 + 100 of 480; what it does not see, at an edge."""
    down = np.array([[1.0, 0.0, -1.0], [1.0, 0.5, -1.0], [1.0, 0.0, 0.0], [0.1, 0.0, -1.0], [-1.0, 0.0, 0.0]])
    below = READOUT_S * (339.5 / 479 - 0.5)
    assert lags_s(LEVEL, down) == pytest.approx([below, below, 0.0, READOUT_S / 2, 0.0], abs=1e-12)
    assert shutter_of(dataclasses.replace(LEVEL, readout_s=0.0)) is None


def test_a_sight_is_turned_by_the_times_of_its_rows():
    """The ball is seen 45 degrees below: 100 rows under the middle, so the robot turned on by 0.0376 rad."""
    ball, far = Spot(0.9, 0.2, 0.14 / math.cos(0.2), 0.01, 0.02), Spot(0.9, -0.3, 1e6, 0.01, 0.02)
    seen = Sight(1.0, ball, (far,), (), SeenPose((1.0, 0.0), 0.3, 0.05, 0.03))
    sight = RollingShutter(LEVEL).straightened(seen, TURN_RAD_S)
    assert sight.ball == pytest.approx(ball._replace(azimuth_rad=0.2 + 0.18 * (339.5 / 479 - 0.5)), abs=1e-9)
    assert sight.opponents[0].azimuth_rad == pytest.approx(-0.3, abs=1e-5)
    lines = 0.18 * (7 / 479)  # 2 m away is 7 rows under the horizon, which is in the middle
    assert sight.pose.half_turns_rad == pytest.approx(0.3 - lines, abs=1e-12)
    assert sight.pose.centre_m == pytest.approx((math.cos(lines), math.sin(lines)), abs=1e-12)


def apparent_azimuth(camera: PinholeCamera, ball_m: tuple[float, float], turn_rad_s: float) -> float:
    """Azimuth of the middle of the ball in a drawn picture; the camera is at the field's centre and looks along x."""
    zero, one = jnp.zeros(1), jnp.ones(1)
    ball, away = (jnp.full(1, ball_m[0]), jnp.full(1, ball_m[1])), (jnp.full((1, 1), -2.0), jnp.full((1, 1), 1.3))
    scene = SightScene((zero, zero), (one, zero), ball, away, jnp.ones((1, 1)), jnp.full(1, turn_rad_s))
    pitch = pitch_of(load_scenario("soccer_2v2", SoccerScenario))
    picture = np.asarray(jax.jit(make_renderer(pitch, camera, STRIP))(scene, plain_look(1)).strip)[..., 0].astype(float)
    orange = np.clip(picture[..., 0] - 2 * picture[..., 2] - 40, 0, None) * (picture[..., 0] > 1.4 * picture[..., 1])
    orange[: STRIP.above_rows] = 0
    column = (orange.sum(0) * (np.arange(STRIP.columns) + 0.5)).sum() / orange.sum()
    return (0.5 - column / STRIP.columns) * STRIP.azimuth_rad


@pytest.mark.parametrize("turn_rad_s", [TURN_RAD_S, -TURN_RAD_S])
def test_a_turning_robot_places_the_ball_where_it_is(turn_rad_s: float):
    """The robot turns in its place and sees a drawn ball of a rolling shutter each time that it looks along x."""
    camera = dataclasses.replace(camera_of(load_scenario("soccer_2v2", SoccerScenario)), readout_s=READOUT_S)
    ball = 1.2, 0.2
    truth = math.atan2(ball[1], ball[0])
    azimuth = apparent_azimuth(camera, ball, turn_rad_s)
    spot = Spot(0.99, azimuth, math.hypot(*ball), 0.01, 0.02)
    sight = Sight(DT_S, spot, (NOTHING,) * 2, (), SeenPose((camera.place_m[0], 0.0), 0.0, 0.05, 0.03))
    off = {}
    for shutter in (shutter_of(camera), None):
        tracker = SightTracker(2, 0.0, shutter)
        state = tracker.start(0.0, np.array([0.0, 0.0, -turn_rad_s * DT_S]), (1e-6, 1e-6))
        state = tracker.roll(state, Odometry(0.0, 0.0, turn_rad_s), DT_S)
        x, y, *_ = tracker.look(state, sight).ball.mean
        # The track is in the frame of the start, in which the robot has turned by now.
        off[shutter is None] = math.atan2(y, x) - turn_rad_s * DT_S - truth
    assert abs(off[False]) < 0.003, "4 mm at 1.2 m"
    assert abs(off[True]) > 0.012, "15 mm"


def test_a_global_shutter_draws_the_same_whether_the_robot_turns_or_not():
    camera = camera_of(load_scenario("soccer_2v2", SoccerScenario))
    assert apparent_azimuth(camera, (0.6, 0.1), TURN_RAD_S) == apparent_azimuth(camera, (0.6, 0.1), 0.0)
