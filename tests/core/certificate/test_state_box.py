"""The box of states holds the true one, as long as the bounds of the vehicle file do."""

from collections.abc import Callable

import numpy as np
import pytest

from robomarl.core.certificate.figures import CertificateFigures, figures_of
from robomarl.core.certificate.state_box import StateBox, anywhere, commanded, middle_of, narrowed, shifted
from robomarl.core.filter.model.bias import Bias
from robomarl.core.filter.params import SafetyParams, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.types import Array

PERIOD_MS, ROBOTS, STEPS = 20, 300, 60
VEHICLES = ["crazyflie_21", "carrier_600", "ssl_omni", "turtlebot3_burger", "gritsbot"]
Clock = Callable[[np.random.Generator, int], tuple[int, int]]
"""(randomness, number of a decision) -> time since the one before, and age of its estimate [ms]."""
CLOCKS: dict[str, Clock] = {
    "on time": lambda random, k: (20, 0),
    "with a constant age": lambda random, k: (20, 10),
    "ages that ramp by 1 ms": lambda random, k: (20, 15 - abs(k % 30 - 15)),
    "ages that ramp by 5 ms": lambda random, k: (20, 5 * (6 - abs(k % 12 - 6))),
    "random ages": lambda random, k: (20, int(random.integers(0, 10))),
    "half as many estimates": lambda random, k: (20, 20 * (k % 2)),
    "decisions that jitter": lambda random, k: (int(random.integers(11, 30)), 0),
    "decisions all late": lambda random, k: (28, 0),
    "decisions all early": lambda random, k: (12, 0),
    "one missed": lambda random, k: (40 if k % 7 == 6 else 20, 0),
    "two missed": lambda random, k: (60 if k % 7 == 6 else 20, 0),
}


def of(name: str) -> tuple[SafetyParams, CertificateFigures]:
    """Parameters and figures of a vehicle."""
    vehicle = load_any_vehicle(name)
    params = from_vehicle(vehicle, PERIOD_MS / 1000)
    return params, figures_of(params, vehicle.body.radius_m)


class Plant:
    """Robots [N, 3] that make any command which the delay of the file allows, pushed by bias and disturbance.

    It is written from the words of vehicle files, in steps of 1 ms, and knows nothing of the box.
    """

    def __init__(self, params: SafetyParams) -> None:
        """Place robots at rest. Their bias is within its bound, and they are told an interval that holds it."""
        self.params, self.random = params, np.random.default_rng(0)
        self.moves, bound = np.array([1, 1, not params.planar]), np.array(params.bias_m_s2)
        self.states = [(np.zeros((ROBOTS, 3)), np.zeros((ROBOTS, 3)))]
        self.bias = self.random.choice([-1, 1], (ROBOTS, 3)) * bound
        doubt, still = self.random.random((ROBOTS, 3)) * bound, np.zeros((ROBOTS, 3))
        told = self.bias + self.random.uniform(-1, 1, (ROBOTS, 3)) * doubt
        self.learned = Bias(told, doubt, still, still, still, still[:, 0], still[:, 0])
        self.sent = [(-1e9, -1e9, still)]

    def estimates(self, age_ms: int) -> tuple[Array, Array]:
        """Return positions and velocities of so long ago, with errors as large as their bounds in random directions."""
        s, ways = self.params.safety, self.random.normal(size=(2, ROBOTS, 3)) * self.moves
        off, off_m_s = ways / np.linalg.norm(ways, axis=-1, keepdims=True)
        pos, vel = self.states[max(len(self.states) - 1 - age_ms, 0)]
        return pos + s.position_error_m * off, vel + s.velocity_error_m_s * off_m_s

    def command(self, stamp_s: float) -> Array:
        """Send commands [N, 3] from all over the input box; delays count from the estimate's stamp or from now."""
        limits, s = self.params.limits, self.params.safety
        drawn = self.random.uniform(limits.accel_min_m_s2, limits.accel_max_m_s2, (ROBOTS, 3)) * self.moves
        drawn = np.where(self.random.random((ROBOTS, 1)) < 0.5, np.sign(drawn) * limits.accel_max_m_s2, drawn)
        self.sent.append((stamp_s + s.shortest_share * s.delay_s, self.now_s + s.delay_s, drawn * self.moves))
        self.sent = self.sent[-40:]
        return self.sent[-1][2]

    @property
    def now_s(self) -> float:
        """Time since the start."""
        return (len(self.states) - 1) / 1000

    def fly(self, ms: int) -> None:
        """Go on. Each robot is quick, late or in between for this time; of the commands that it may make it makes the
        newest that has taken effect."""
        share = self.random.choice([0.0, self.random.random(), 1.0], (ROBOTS, 1))
        push = self.random.choice([-1, 1], (ROBOTS, 3)) * self.params.safety.accel_error_m_s2 / 3**0.5
        for _ in range(ms):
            (pos, vel), t, accel = self.states[-1], 1e-3, self.sent[0][2]
            for may_s, must_s, command in self.sent[1:]:
                accel = np.where(may_s + share * (must_s - may_s) <= self.now_s + 1e-9, command, accel)
            accel = accel + (self.bias + push) * self.moves
            self.states.append((pos + vel * t + accel * t * t / 2, vel + accel * t))


def flown(name: str, clock: str) -> tuple[StateBox, float, float]:
    """Fly; return the box, how far the true state was outside of it at the most, and how far the middle was from the
    truth along an axis, in bounds of an estimate."""
    params, figures = of(name)
    c, plant, outside, off = figures.tracker, Plant(params), 0.0, 0.0
    box = anywhere(c, np.zeros((ROBOTS, 3)), np.zeros(ROBOTS, int), np)
    for step in range(STEPS):
        wait_ms, age_ms = CLOCKS[clock](plant.random, step)
        plant.fly(wait_ms)
        stamp_s = max(plant.now_s - age_ms / 1000, 0.0)
        stamp = np.full(ROBOTS, stamp_s), np.full(ROBOTS, True)
        known = plant.learned, figures.position_error_m
        box = narrowed(c, box, plant.estimates(age_ms), stamp, known, np)
        pos, vel = plant.states[round(stamp_s * 1000)]
        for low, true, high, bound in (
            (box.low_m, pos, box.high_m, figures.position_error_m),
            (box.low_m_s, vel, box.high_m_s, c.velocity_error_m_s),
        ):
            outside = max(outside, float((low - true).max()), float((true - high).max()))
            off = max(off, float(np.abs((low + high) / 2 - true).max()) / bound)
        box = commanded(c, box, plant.command(stamp_s), np.full(ROBOTS, plant.now_s), np)
    return box, outside, off


@pytest.mark.parametrize("name", VEHICLES)
def test_the_true_state_is_in_the_box(name: str):
    """And the middle is along each axis no farther from it than an estimate may be."""
    box, outside, off = flown(name, "on time")
    assert outside < 1e-9 and off < 1 + 1e-9 and not box.misfits.any()


@pytest.mark.parametrize("clock", list(CLOCKS)[1:])
def test_it_is_there_whenever_estimates_and_decisions_come(clock: str):
    for name in ("crazyflie_21", "ssl_omni"):
        box, outside, off = flown(name, clock)
        assert outside < 1e-9 and off < 1 + 1e-9 and not box.misfits.any(), name


def test_the_box_is_smaller_than_what_an_estimate_says():
    """By more than half where errors are drawn anew for every estimate."""
    box, _, _ = flown("crazyflie_21", "on time")
    assert (box.high_m - box.low_m).mean() < 0.5 * 2 * of("crazyflie_21")[1].position_error_m


def narrowed_by(
    pos: float, vel: float, box: StateBox | None = None, at_s: float = 0.0, usable: bool = True
) -> StateBox:
    """Narrow a Crazyflie's box, by default one that holds everything, by an estimate along x. No bias is known of."""
    params, figures = of("crazyflie_21")
    none, bound = np.zeros(3), np.array(params.bias_m_s2)
    seen = np.array([pos, 0, 0]), np.array([vel, 0, 0])
    stamp, known = (np.array(at_s), np.array(usable)), (Bias(none, bound, none, none, none, none[0], none[0]), 0.02)
    before = box or anywhere(figures.tracker, none, np.array(0), np)
    return narrowed(figures.tracker, before, seen, stamp, known, np)


def test_errors_that_alternate_do_not_move_the_middle():
    """By hand: estimates 2 cm and 5 cm/s to either side of the truth leave the truth alone."""
    one = narrowed_by(0.02, 0.05)
    both = narrowed_by(-0.02, -0.05, one, at_s=0.0)
    assert np.allclose([middle_of(one).pos[0], middle_of(one).vel[0]], [0.02, 0.05])
    assert np.allclose([both.low_m[0], both.high_m[0], both.low_m_s[0], both.high_m_s[0]], 0)
    assert not both.misfits


def test_a_period_moves_and_widens_the_box_by_hand():
    """Commands of 1, 2 and 3 m/s^2 are sent 80 ms apart, with a delay of 80 to 160 ms. From 90 to 110 ms after the
    second was sent the first or the second acts. An estimate with huge bounds adds nothing."""
    params, figures = of("crazyflie_21")
    c, t, none = figures.tracker, 0.02, np.zeros(3)
    box = anywhere(c, none, np.array(0), np)
    for _ in range(9):
        box = commanded(c, box, none, np.array(-1.0), np)
    for i, accel in enumerate((1.0, 2.0, 3.0)):
        box = commanded(c, box._replace(at_s=np.array(0.08 * i)), np.array([accel, 0, 0]), np.array(0.08 * i), np)
    box = narrowed_by(0.0, 0.0)._replace(commands=box.commands, may_s=box.may_s, must_s=box.must_s, at_s=np.array(0.17))
    bias = Bias(np.array([0.1, 0, 0]), np.array([0.05, 0.2, 0.2]), none, none, none, none[0], none[0])
    stamp, wide = (np.array(0.17 + t), np.array(True)), c._replace(velocity_error_m_s=10.0)
    after = narrowed(wide, box, (none, none), stamp, (bias, 10.0), np)
    least, most = 1.0 + 0.1 - 0.05 - c.accel_error_m_s2, 2.0 + 0.1 + 0.05 + c.accel_error_m_s2
    assert params.safety.delay_s == 0.16 and params.safety.shortest_share == 0.5
    assert np.isclose(after.low_m_s[0], -0.05 + least * t) and np.isclose(after.high_m_s[0], 0.05 + most * t)
    assert np.isclose(after.low_m[0], -0.02 - 0.05 * t + least * t * t / 2)
    assert np.isclose(after.high_m[0], 0.02 + 0.05 * t + most * t * t / 2) and np.isclose(after.at_s, 0.19)


@pytest.mark.parametrize(("pos", "vel"), [(0.5, 0.0), (0.0, 0.6)], ids=["place", "velocity"])
def test_an_estimate_that_can_not_be_counts_and_begins_anew(pos: float, vel: float):
    before = narrowed_by(0.0, 0.0)
    jumped = narrowed_by(pos, vel, before, at_s=0.02)
    assert (
        jumped.misfits == 1 and np.isclose(middle_of(jumped).pos[0], pos) and np.isclose(middle_of(jumped).vel[0], vel)
    )
    assert np.isclose(jumped.high_m[0] - jumped.low_m[0], 0.04)
    assert narrowed_by(0.0, 0.0, jumped, at_s=0.01).misfits == 1, "where a clock went back, nothing is known"


def test_heights_of_robots_that_drive_do_not_matter():
    figures, none = of("ssl_omni")[1], np.zeros(3)
    bias, box = (
        Bias(none, none, none, none, none, none[0], none[0]),
        anywhere(of("ssl_omni")[1].tracker, none, np.array(0), np),
    )
    for step in range(3):
        seen, stamp = (np.array([0, 0, 0.5 * step]), none), (np.array(0.02 * step), np.array(True))
        box = narrowed(figures.tracker, box, seen, stamp, (bias, 0.01), np)
    assert not box.misfits and middle_of(box).pos[2] == 1.0


def test_a_command_that_is_no_number_leaves_what_the_estimate_says():
    figures, none = of("crazyflie_21")[1], np.zeros(3)
    box = narrowed_by(0.0, 0.0)
    for step in range(24):
        command = np.array([np.nan, 0, 0]) if step == 12 else none
        box = commanded(figures.tracker, box, command, box.at_s, np)
        box = narrowed_by(0.0, 0.0, box, at_s=0.02 * (step + 1))
        assert middle_of(box).pos[0] == 0.0
    assert box.misfits > 0


def test_without_an_estimate_the_robot_may_be_anywhere():
    lost = narrowed_by(0.0, 0.0, narrowed_by(0.0, 0.0), usable=False)
    assert lost.misfits == 0 and (lost.high_m - lost.low_m > 1e6).all() and middle_of(lost).pos == (0, 0, 0)
    assert np.isclose(middle_of(narrowed_by(3.0, 1.0, lost)).pos[0], 3.0)


def test_a_clock_that_was_set_takes_all_times_along():
    """One hour later the same estimate narrows the box as before."""
    figures = of("crazyflie_21")[1]
    box = commanded(figures.tracker, narrowed_by(0.02, 0.05), np.array([1.0, 0, 0]), np.array(0.0), np)
    one = narrowed_by(-0.01, 0.0, box, at_s=0.02)
    other = narrowed_by(-0.01, 0.0, shifted(box, 3600.0), at_s=3600.02)
    assert all(np.allclose(a, b, atol=1e-9) for a, b in zip(one[:4], other[:4], strict=True))
