"""Games of a team that sees pixels: each game is the same whatever is simulated beside it, and `eval` plays them."""

from pathlib import Path

import numpy as np
import pytest

from robomarl.core.bundle.bundle import PERCEPTION_FILE, load_bundle
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.evaluation.evaluate import GameConfig, evaluate_game
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.eyes_sim import DrawnCameras, EyesSim, seeing_soccer
from robomarl.domains.soccer.lab.sight.pitch import camera_of
from robomarl.lab.camera.network_strip import strip_of
from robomarl.lab.sim.scenario import load_scenario

pytest.importorskip("jax")
BUNDLE = "soccer_2v2_eyes"


def _games(num: int, first: int, batch: int = 0) -> EyesSim:
    """Some of the two games of a batch."""
    scenario = load_scenario("soccer_2v2", SoccerScenario)
    network = load_bundle(BUNDLE).files[PERCEPTION_FILE]
    cameras = DrawnCameras(scenario, 7, camera_of(scenario), strip_of(network))
    sim = seeing_soccer(make_soccer(scenario, "fast", num, 3), network, cameras, 3)
    sim.take(first, 2, batch)
    return sim


def _play(sim: EyesSim, decisions: int) -> None:
    sim.reset()
    for _ in range(decisions):
        sim.step(np.full((sim.num_envs, 4, 4), 0.5, np.float32))


def test_a_game_is_the_same_whatever_is_simulated_beside_it():
    both, second = _games(2, 0), _games(1, 1)
    for sim in (both, second):
        _play(sim, 6)
    for whole, alone in zip(both.views().sensed, second.views().sensed, strict=True):
        np.testing.assert_allclose(whole[1], alone[0], atol=1e-4)
    first = both.eyes.believed[0][0].pose
    assert np.abs(both.eyes.believed[1][0].pose - first).max() > 1e-3, "each game has noise of its own"
    np.testing.assert_allclose(both.eyes.believed[1][0].pose, second.eyes.believed[0][0].pose, atol=1e-4)


def test_a_second_batch_has_looks_and_noise_of_its_own_in_one_process_and_in_many():
    through, begun = _games(1, 1), _games(1, 1, batch=1)
    _play(through, 2)
    before = through.cameras(through.world)
    for sim in (through, begun):
        sim.reset()
    assert np.array_equal(through.eyes._scale, begun.eyes._scale)
    looks = [np.asarray(sim.cameras._look.colours) for sim in (through, begun)]  # type: ignore[attr-defined]
    np.testing.assert_array_equal(looks[0], looks[1])
    assert not np.array_equal(before, through.cameras(through.world))


def test_eval_plays_a_bundle_that_sees_by_its_pictures(tmp_path: Path):
    scenario = tmp_path / "short.toml"
    scenario.write_text('extends = "soccer_2v2"\ntime_limit_s = 5.0\n')
    found = evaluate_game(BUNDLE, str(scenario), GameConfig("fast", episodes=1, seed=2))
    assert found["sees"] == "pixels"
    assert found["against_sees"] == "eyes"
    assert found["kicks"] > 0, "the robots find the ball"
    assert found["set_pieces"] == 1
