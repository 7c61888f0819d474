"""How well a team flies when it has arrived: by hand, on an engine, and without touching any other figure."""

import dataclasses
import math

import numpy as np
import pytest

from robomarl.domains.flight.lab.evaluation.hover import Hover, hover_figures, watched
from robomarl.domains.flight.lab.goto import GotoPolicy
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.evaluate.shared import parts
from robomarl.lab.evaluate.variations import perturbed
from robomarl.lab.sim.scenario import load_scenario

HOVER = {"hover_accel_std_m_s2", "hover_tilt_rad", "hover_error_m"}


@pytest.fixture(scope="module")
def alone() -> FlightScenario:
    return dataclasses.replace(load_scenario("goto_1"), time_limit_s=4.0)


class Shaking(GotoPolicy):
    """Flies to the goal and shakes to and fro, 1 m/s^2 each way."""

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """What it was, and the sign of the next push."""
        return (*super().init(batch), np.ones(batch, np.float32))

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """(carry, obs) -> (carry, command)."""
        (trim,), command = super().__call__(carry[:1], obs)
        push = np.zeros_like(command)
        push[..., 0] = carry[1]
        return (trim, -carry[1]), command + push


def test_figures_by_hand():
    """Two teams of one robot, two decisions: the first is whole, the second has failed and counts for nothing."""
    command, square = np.array([[[2.0, 0, 0]], [[9.0, 9, 9]]]), np.array([[[10.0, 8, 0]], [[99.0, 99, 99]]])
    hover = Hover(np.array([0, 1]), np.array([False, True]), command, square, np.array([0.2, 3.0]), np.array([0.1, 4]))
    found = hover_figures(hover, 2)
    assert found["hover_accel_std_m_s2"] == pytest.approx(math.sqrt(5 - 1 + 4))
    assert found["hover_tilt_rad"] == pytest.approx(0.1)
    assert found["hover_error_m"] == pytest.approx(0.05)
    assert (found["hover_episodes"], found["hover_failed_episodes"]) == (1, 1)
    nobody = hover_figures(hover._replace(left=np.array([1, 1])), 2)
    assert all(nobody[name] is None for name in HOVER)


def test_other_figures_are_the_same_with_it_and_without(alone: FlightScenario, monkeypatch: pytest.MonkeyPatch):
    """In several batches, so that what is flown beyond the time limit must leave the next one's draws alone."""
    monkeypatch.setattr(parts, "batch_size", lambda episodes, most: 2)
    settings = EvalConfig(episodes=4, filter="off", progress=False)
    plain, more = (
        evaluate(GotoPolicy(alone), alone, dataclasses.replace(settings, hover_s=seconds)).figures
        for seconds in (0.0, 3.0)
    )
    assert set(more) - set(plain) >= HOVER
    assert {k: more[k] for k in plain if k != "realtime_factor"} == {
        k: v for k, v in plain.items() if k != "realtime_factor"
    }
    assert more["hover_episodes"] == 4
    assert 0 < more["hover_error_m"] < 0.15
    assert 0 < more["hover_accel_std_m_s2"] < 0.5


def test_who_shakes_is_seen(alone: FlightScenario):
    settings = EvalConfig(episodes=3, filter="off", progress=False, hover_s=2.0)
    calm, shaking = (evaluate(policy(alone), alone, settings).figures for policy in (GotoPolicy, Shaking))
    assert shaking["success_rate"] == calm["success_rate"] == 1.0
    wanted = math.hypot(calm["hover_accel_std_m_s2"], 1.0)
    assert shaking["hover_accel_std_m_s2"] == pytest.approx(wanted, rel=0.1)
    assert shaking["hover_tilt_rad"] > calm["hover_tilt_rad"]


def test_nothing_is_watched_where_the_goal_moves_or_a_vehicle_is_lost():
    lift = load_scenario("lift_3")
    moving, lost = load_scenario("lift_3_eight"), perturbed(load_scenario("lift_4_lost"), ["cut_s=5"])
    assert watched(lift, task_of(lift), 10.0) == 10 * lift.rates.policy_hz
    assert watched(moving, task_of(moving), 10.0) == watched(lost, task_of(lost), 10.0) == 0
