"""The filters of own pose and things, written in single floats, beside the same formulas with matrices."""

import numpy as np
import pytest

from robomarl.domains.soccer.core.sight import own_pose
from robomarl.domains.soccer.core.sight.layout import SeenPose, Spot
from robomarl.domains.soccer.core.sight.own_pose import ALIKE, FAR, OwnPose, PoseSpread, turned
from robomarl.domains.soccer.core.sight.spread import inverse, largest, squared
from robomarl.domains.soccer.core.sight.track import State, StateSpread, ThingTrack, TrackGains, seen, surprise

GAINS = TrackGains(accel_m_s2=5.0, speed_m_s=1.5, most_m_s=3.0, slows_m_s2=2.0)


def matrix(spread: PoseSpread) -> np.ndarray:
    xx, xy, xh, yy, yh, hh = spread
    return np.array([[xx, xy, xh], [xy, yy, yh], [xh, yh, hh]])


def whole(spread: StateSpread) -> np.ndarray:
    (xx, xy, yy), mixed, (uu, uv, vv) = spread
    across = np.reshape(mixed, (2, 2))
    return np.block([[np.array([[xx, xy], [xy, yy]]), across], [across.T, np.array([[uu, uv], [uv, vv]])]])


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(0)


def spread_of(random: np.random.Generator, size: int) -> np.ndarray:
    root = random.normal(0, 0.2, (size, size))
    return root @ root.T + 1e-3 * np.eye(size)


def test_spreads_are_matrices(random: np.random.Generator):
    full, off = spread_of(random, 2), random.normal(size=2)
    spread = full[0, 0], full[0, 1], full[1, 1]
    assert largest(spread) == pytest.approx(np.linalg.eigvalsh(full)[1], rel=1e-12)
    assert squared(inverse(spread), (off[0], off[1])) == pytest.approx(off @ np.linalg.solve(full, off), rel=1e-9)
    spot = Spot(1.0, 0.4, 2.0, 0.03, 0.1)
    axes = turned(0.4 + 0.7) @ np.diag([0.2, 0.06])
    xx, xy, yy = spot.spread(0.7)
    assert np.array([[xx, xy], [xy, yy]]) == pytest.approx(axes @ axes.T, abs=1e-15)


def test_the_own_pose_is_a_kalman_filter(random: np.random.Generator):
    """Prediction by the Jacobian of a motion; correction in the body frame, where a picture shows the centre."""
    for _ in range(200):
        mean, full = random.normal(size=3), spread_of(random, 3)
        belief = OwnPose((mean[0], mean[1], mean[2]), PoseSpread(*full[np.triu_indices(3)]))
        step, dt_s = random.normal(0, 0.1, 3), 0.03
        x, y = turned(mean[2]) @ step[:2]
        jacobian = np.array([[1, 0, -y], [0, 1, x], [0, 0, 1]])
        noise = [0.03**2 * np.hypot(x, y) + 0.02**2 * dt_s] * 2 + [0.02**2 * dt_s + 0.01**2 * abs(step[2])]
        after = own_pose.predict(belief, (step[0], step[1], step[2]), dt_s)
        assert matrix(after.covariance) == pytest.approx(jacobian @ full @ jacobian.T + np.diag(noise), abs=1e-12)

        rotation = turned(mean[2])
        centre = -rotation.T @ mean[:2]
        miss = random.normal(0, 0.3, 3)
        shown = SeenPose((centre[0] + miss[0], centre[1] + miss[1]), mean[2] + miss[2], 0.05, 0.03)
        jacobian = np.block([[-rotation.T, np.array([[centre[1]], [-centre[0]]])], [np.array([[0.0, 0.0, 1.0]])]])
        noise = ALIKE * np.diag([0.05**2, 0.05**2, 0.03**2])
        total = jacobian @ full @ jacobian.T + noise
        gain = full @ jacobian.T @ np.linalg.inv(total)
        keep = np.eye(3) - gain @ jacobian
        after = own_pose.correct(belief, (0.0, 0.0, 0.0), shown)
        if miss @ np.linalg.solve(total, miss) > FAR:
            assert after.refused == 1 and after.mean == belief.mean
            continue
        off = np.array(after.mean) - mean - gain @ miss
        off[2] = own_pose.wrapped(off[2])
        assert off == pytest.approx(np.zeros(3), abs=1e-9)
        assert matrix(after.covariance) == pytest.approx(keep @ full @ keep.T + gain @ noise @ gain.T, abs=1e-9)


def test_a_track_is_a_kalman_filter(random: np.random.Generator):
    """A thing that slows down with 2 m/s^2, about which nothing but its place is seen."""
    corrected = 0
    for _ in range(200):
        state, full = random.normal(size=4), spread_of(random, 4)
        blocks = full[:2, :2][np.triu_indices(2)], full[:2, 2:].ravel(), full[2:, 2:][np.triu_indices(2)]
        mean: State = (state[0], state[1], state[2], state[3])
        track = ThingTrack(1.0, 0.5, 0, mean, StateSpread(*(tuple(block.tolist()) for block in blocks)))
        dt = float(random.uniform(0, 1.5))
        speed = np.hypot(*state[2:])
        moves_s = min(dt, speed / 2)
        then = np.array([*(state[:2] + state[2:] * (moves_s - moves_s**2 / (speed / 2) / 2)),
                         *(state[2:] * (1 - moves_s / (speed / 2)))])  # fmt: skip
        carry = np.eye(4) + dt * np.eye(4, k=2)
        push = 5.0 * np.vstack([dt * dt / 2 * np.eye(2), dt * np.eye(2)])
        full = carry @ full @ carry.T + push @ push.T
        spot, noise = then[:2] + random.normal(0, 0.3, 2), spread_of(random, 2)
        told = (spot[0], spot[1]), (noise[0, 0], noise[0, 1], noise[1, 1]), 1.0 + dt
        total = full[:2, :2] + noise + 0.008**2 * np.eye(2)
        far = (spot - then[:2]) @ np.linalg.solve(total, spot - then[:2])
        assert surprise(GAINS, track, *told) == pytest.approx(far, rel=1e-9)
        if far > GAINS.refuse:
            continue
        gain = full[:, :2] @ np.linalg.inv(total)
        then = then + gain @ (spot - then[:2])
        then[2:] *= min(1.0, 3.0 / np.hypot(*then[2:]))
        after = seen(GAINS, track, *told)
        assert after.mean == pytest.approx(then, abs=1e-9)
        assert whole(after.covariance) == pytest.approx(full - gain @ full[:2], abs=1e-9)
        corrected += 1
    assert corrected > 100
