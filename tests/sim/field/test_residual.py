"""Flights on plants with a push that identification has no parameter for, and what is learned of it."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.flight.planted import draw_planted
from benchmarks.flight.pushed import STACKED, Effect, downwash, fly_pushed, lost_lift
from robomarl.evaluate.resolve import resolve_policy
from robomarl.track import RobotTrack


def flown(folder: Path, effect: Effect | None, flights: int = 8) -> tuple[object, list[RobotTrack]]:
    """Two pairs, one above the other; all vehicles alike, in the middle of what training knows."""
    file = folder / "stacked.toml"
    file.write_text(STACKED)
    policy, scenario = resolve_policy("swap_4", str(file))
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
