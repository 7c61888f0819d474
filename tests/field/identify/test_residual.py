"""Flights on plants with a push that identification has no parameter for, and what is learned of it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.flight.planted import draw_planted
from benchmarks.flight.pushed import STACKED, Effect, downwash, fly_pushed, lost_lift
from robomarl.domains.flight.field.identify.learned import candidate_of, learn, learned
from robomarl.domains.flight.field.identify.open_loop import OpenLoop, short_windows_of
from robomarl.domains.flight.lab.residual import ResidualConfig, load_residual
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.identify.flight_sets import FlightSets
from robomarl.field.identify.identify import identify
from robomarl.field.identify.residual import judged, three_sets
from robomarl.field.identify.robot_fit import RobotFit
from robomarl.field.track import RobotTrack
from robomarl.lab.evaluate.resolve import resolve_policy


def flown(folder: Path, effect: Effect | None, flights: int = 8) -> tuple[Any, list[RobotTrack]]:
    """Two pairs, one above the other; all vehicles alike, in the middle of what training knows."""
    file = folder / "stacked.toml"
    file.write_text(STACKED)
    policy, scenario = resolve_policy("swap_4", str(file))
    assert isinstance(scenario, FlightScenario)
    planted = {name: value * 0 + value.mean() for name, value in draw_planted(scenario, 1, 0).items()}
    return scenario, fly_pushed(scenario, policy, planted, flights, effect)


def test_effects_are_what_their_names_say():
    still = np.zeros((1, 2, 3))
    depths = [downwash(3.0)(np.array([[[0.0, 0, 1], [0, 0, 1 + h]]]), still)[0] for h in (0.3, 0.7, 1.5)]
    pushes = [float(-push[0, 2]) for push in depths]
    assert 3.0 > pushes[0] > pushes[1] > pushes[2] > 0.5, "on the lower one, less and less as the other is higher"
    assert np.allclose([push[1] for push in depths], 0, atol=0.06), "and none on the upper one"
    far = downwash(3.0)(np.array([[[0.0, 0, 1], [1.5, 0, 1.3]]]), still)
    assert np.abs(far).max() < 1e-5
    slow, fast = (lost_lift(0.4)(still, still + speed)[0, 0, 2] for speed in (0.5, 1.0))
    assert slow < 0 and fast == pytest.approx(4 * slow)


def test_the_effect_acts_on_the_body_below(tmp_path: Path):
    _, own = flown(tmp_path, None, 1)
    _, pushed = flown(tmp_path, downwash(3.0), 1)
    lower, alone = ([track.command[-100:, 2].mean() for track in tracks] for tracks in (pushed, own))
    assert lower[0] - alone[0] > 1.0, "robot 0 ends below robot 1, and must ask for lift"
    assert abs(lower[1] - alone[1]) < 0.05


def identified(scenario: Any, tracks: list[RobotTrack]) -> tuple[list[RobotFit], FlightSets]:
    """What is found in the flights that the gate does not see."""
    sets = three_sets(tracks, 0.25)
    return identify(scenario, sets.seen)[0], sets


@pytest.fixture
def briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the steps, of two members."""
    monkeypatch.setattr("robomarl.domains.flight.field.identify.learned.LOOKS", 5)
    monkeypatch.setattr("robomarl.domains.flight.field.identify.learned.MEMBERS", 2)


@pytest.mark.usefixtures("briefly")
def test_a_push_that_was_missed_is_learned_and_its_mirror_image_refused(tmp_path: Path):
    """Held-out flights are predicted better with the residual; with that of a push up, worse, and the gate says so."""
    scenario, tracks = flown(tmp_path, downwash(3.0))
    found, sets = identified(scenario, tracks)
    candidate = learned(scenario, found, sets, 0)
    assert candidate is not None
    verdict = judged(candidate)
    assert verdict.candidate is not None and verdict.prediction is not None, verdict.said
    assert verdict.prediction.after_m < 0.9 * verdict.prediction.before_m
    own = np.array([robot == "robot_0" for robot, _, _ in candidate.place])
    assert candidate.after_m[own].mean() < 0.7 * candidate.before_m[own].mean(), "of the one that ends below"

    section = ResidualConfig(**candidate.save(tmp_path / "residual.npz"))
    right = load_residual(section)
    flipped = right._replace(decide=(*right.decide[:-1], tuple(-part for part in right.decide[-1])))
    gate = short_windows_of(found, sets.gate, scenario.period_s)
    assert gate is not None
    loop = OpenLoop(scenario)
    assert judged(candidate_of(loop, flipped, gate)).candidate is None
    again = candidate_of(loop, right, gate)
    assert np.array_equal(again.after_m, candidate.after_m), "what was saved is what was judged"


@pytest.mark.slow
def test_what_is_learned_of_the_opposite_push_is_refused(tmp_path: Path):
    """The flights of the fit have an updraught where those of the gate have a downwash."""
    scenario, tracks = flown(tmp_path, downwash(3.0))
    found, sets = identified(scenario, tracks)
    _, up = flown(tmp_path, downwash(-2.0))
    other, opposite = identified(scenario, up)
    stop, gate = short_windows_of(other, opposite.stop, 0.02), short_windows_of(found, sets.gate, 0.02)
    assert stop is not None and gate is not None
    loop = OpenLoop(scenario)
    residual = learn(loop, other, opposite.fit, stop, 0)
    assert judged(candidate_of(loop, residual, stop)).candidate is not None, "there it is right"
    assert judged(candidate_of(loop, residual, gate)).candidate is None


@pytest.mark.usefixtures("briefly")
def test_a_plant_that_is_the_models_own_gets_no_residual(tmp_path: Path):
    """There is nothing to learn but noise and gusts, against which the policy steers."""
    scenario, tracks = flown(tmp_path, None)
    found, sets = identified(scenario, tracks)
    candidate = learned(scenario, found, sets, 0)
    assert candidate is not None
    verdict = judged(candidate)
    assert verdict.candidate is None
    assert verdict.said.startswith("no residual, since it does not help")
