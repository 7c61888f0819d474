"""The box of states holds the true one, as long as the bounds of the vehicle file do."""

import numpy as np
import pytest

from robomarl.core.certificate.figures import CertificateFigures, figures_of
from robomarl.core.certificate.state_box import StateBox, anywhere, expected, middle_of, narrowed
from robomarl.core.filter.model.bias import Bias
from robomarl.core.filter.params import SafetyParams, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.types import Array

PERIOD_S, ROBOTS, PIECES = 0.02, 400, 5
VEHICLES = ["crazyflie_21", "carrier_600", "ssl_omni", "turtlebot3_burger", "gritsbot"]


def of(name: str) -> tuple[SafetyParams, CertificateFigures]:
    """Parameters and figures of a vehicle."""
    vehicle = load_any_vehicle(name)
    params = from_vehicle(vehicle, PERIOD_S)
    return params, figures_of(params, vehicle.body.radius_m)


class Plant:
    """Robots [N, 3] that make any command which the delay of the file allows, pushed by bias and disturbance.

    It is written from the words of vehicle files, and knows nothing of the box.
    """

    def __init__(self, params: SafetyParams, seed: int = 0) -> None:
        """Place robots at rest. Their bias is within its bound, and they are told an interval that holds it."""
        self.params, self.random = params, np.random.default_rng(seed)
        self.pos, self.vel = np.zeros((ROBOTS, 3)), np.zeros((ROBOTS, 3))
        bound, self.moves = np.array(params.bias_m_s2), np.array([1, 1, not params.planar])
        self.bias = self.random.choice([-1, 1], (ROBOTS, 3)) * bound
        self.told, still = self._told(bound), self.random.random((ROBOTS, 3)) * 0
        self.learned = Bias(*self.told, still, still, still, still[:, 0], still[:, 0])
        self.sent, self.now_s = [(-1.0, np.zeros((ROBOTS, 3)))], 0.0

    def _told(self, bound: Array) -> tuple[Array, Array]:
        doubt = self.random.random((ROBOTS, 3)) * bound
        return self.bias + self.random.uniform(-1, 1, (ROBOTS, 3)) * doubt, doubt

    def estimates(self) -> tuple[Array, Array]:
        """Return positions and velocities with errors as large as their bounds, in random directions."""
        s, ways = self.params.safety, self.random.normal(size=(2, ROBOTS, 3)) * self.moves
        off, off_m_s = ways / np.linalg.norm(ways, axis=-1, keepdims=True)
        return self.pos + s.position_error_m * off, self.vel + s.velocity_error_m_s * off_m_s

    def command(self) -> Array:
        """Return commands [N, 3] from all over the input box."""
        limits = self.params.limits
        return self.random.uniform(limits.accel_min_m_s2, limits.accel_max_m_s2, (ROBOTS, 3)) * self.moves

    def fly(self, periods: int = 1) -> None:
        """Go on, in pieces with a delay of their own."""
        s, t = self.params.safety, PERIOD_S / PIECES
        for _ in range(PIECES * periods):
            late = self.random.choice([s.shortest_share, self.random.random(), 1.0], (ROBOTS, 1))
            late = np.clip(late, s.shortest_share, 1.0) * s.delay_s
            accel = self.sent[0][1]
            for at_s, command in self.sent[1:]:
                accel = np.where(at_s + late <= self.now_s + 1e-9, command, accel)
            push = self.random.choice([-1, 1], (ROBOTS, 3)) * s.accel_error_m_s2 / 3**0.5
            accel = accel + (self.bias + push) * self.moves
            self.pos, self.vel = self.pos + self.vel * t + accel * t * t / 2, self.vel + accel * t
            self.now_s += t


def flown(name: str, steps: int, skipped: int = 0) -> tuple[Plant, StateBox, float]:
    """Fly; return plant, box, and how far the true state was outside of it at the most. `skipped`: periods that are
    missed after every seventh decision."""
    params, figures = of(name)
    c, plant, outside = figures.tracker, Plant(params), 0.0
    box = anywhere(np.zeros((ROBOTS, 3)), np.zeros(ROBOTS, int))
    queue = [np.zeros((ROBOTS, 3))] * c.num_acting
    for step in range(steps):
        stamp = np.full(ROBOTS, plant.now_s), np.full(ROBOTS, True)
        box = narrowed(c, box, plant.estimates(), stamp, figures.position_error_m, np)
        for low, true, high in ((box.low_m, plant.pos, box.high_m), (box.low_m_s, plant.vel, box.high_m_s)):
            outside = max(outside, float((low - true).max()), float((true - high).max()))
        queue.append(plant.command())
        plant.sent.append((plant.now_s, queue[-1]))
        box = expected(c, box, np.stack(queue[-c.num_acting - 1 :][: c.next_count], -2), plant.learned, np)
        plant.fly(1 + skipped * (step % 7 == 6))
    return plant, box, outside


@pytest.mark.parametrize("name", VEHICLES)
def test_the_true_state_is_in_the_box(name: str):
    _, box, outside = flown(name, 60)
    assert outside < 1e-9 and not box.misfits.any()


def test_it_is_there_after_missed_decisions_too():
    _, box, outside = flown("crazyflie_21", 60, skipped=2)
    assert outside < 1e-9 and not box.misfits.any()


def test_the_box_is_smaller_than_what_an_estimate_says():
    """By more than half where errors are drawn anew for every estimate."""
    _, box, _ = flown("crazyflie_21", 60)
    assert (box.high_m - box.low_m).mean() < 0.5 * 2 * of("crazyflie_21")[1].position_error_m


def narrowed_by(
    pos: float, vel: float, box: StateBox | None = None, at_s: float = 0.0, usable: bool = True
) -> StateBox:
    """Narrow a Crazyflie's box, by default one that holds everything, by an estimate along x."""
    figures, none = of("crazyflie_21")[1], np.zeros(3)
    seen = np.array([pos, 0, 0]), np.array([vel, 0, 0])
    stamp = np.array(at_s), np.array(usable)
    return narrowed(figures.tracker, box or anywhere(none, np.array(0)), seen, stamp, figures.position_error_m, np)


def test_errors_that_alternate_do_not_move_the_middle():
    """By hand: estimates 2 cm and 5 cm/s to either side of the truth leave the truth alone."""
    one = narrowed_by(0.02, 0.05)
    both = narrowed_by(-0.02, -0.05, one, at_s=0.0)
    assert np.allclose([middle_of(one).pos[0], middle_of(one).vel[0]], [0.02, 0.05])
    assert np.allclose([both.low_m[0], both.high_m[0], both.low_m_s[0], both.high_m_s[0]], 0)
    assert not both.misfits


def test_a_period_moves_and_widens_the_box_by_hand():
    figures = of("crazyflie_21")[1]
    c, t, none = figures.tracker, PERIOD_S, np.zeros(3)
    bias = Bias(np.array([0.1, 0, 0]), np.array([0.05, 0.2, 0.2]), none, none, none, none[0], none[0])
    commands = np.array([[1.0, 0, 0], [2.0, 0, 0]])
    after = expected(c, narrowed_by(0.0, 0.0), commands, bias, np)
    least, most = 1.0 + 0.1 - 0.05 - c.accel_error_m_s2, 2.0 + 0.1 + 0.05 + c.accel_error_m_s2
    assert np.isclose(after.low_m_s[0], -0.05 + least * t) and np.isclose(after.high_m_s[0], 0.05 + most * t)
    assert np.isclose(after.low_m[0], -0.02 - 0.05 * t + least * t * t / 2)
    assert np.isclose(after.high_m[0], 0.02 + 0.05 * t + most * t * t / 2) and after.at_s == t


def test_an_estimate_that_can_not_be_counts_and_begins_anew():
    before = narrowed_by(0.0, 0.0)
    jumped = narrowed_by(0.5, 0.0, before)
    assert jumped.misfits == 1 and np.isclose(middle_of(jumped).pos[0], 0.5)
    assert np.isclose(jumped.high_m[0] - jumped.low_m[0], 0.04)
    assert np.isclose(jumped.high_m[1] - jumped.low_m[1], 0.04), "the other axes stay as they were"


def test_without_an_estimate_the_robot_may_be_anywhere():
    lost = narrowed_by(0.0, 0.0, narrowed_by(0.0, 0.0), usable=False)
    assert lost.misfits == 0 and (lost.high_m - lost.low_m > 1e6).all() and middle_of(lost).pos == (0, 0, 0)
    assert np.isclose(middle_of(narrowed_by(3.0, 1.0, lost)).pos[0], 3.0)
