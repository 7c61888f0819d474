"""Words of `robomarl view`: the kind of thing that each names, films of it, and mistakes in a sentence."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("viser")
pytest.importorskip("mujoco")

from PIL import Image

from robomarl.core.config import UserError
from robomarl.front.cli import main
from robomarl.front.view.subject import Choice, kind_of, subject_of
from robomarl.lab.scene import film


def test_a_bundle_goes_before_a_scenario_and_both_before_a_fleet():
    assert kind_of("swap_4") == "policy"
    assert kind_of("swap_8") == "scenario"
    assert kind_of("local_4") == "fleet"
    with pytest.raises(UserError, match="swp_4: is no bundle.*did you mean 'swap_4'"):
        kind_of("swp_4")


def test_a_policy_flies_to_its_goals():
    with subject_of(Choice("swap_4")) as subject:
        source = subject.source
        goals = source.moment.goal_m
        for _ in range(400):
            moment = source.advance()
            assert moment is not None
            if np.linalg.norm(moment.pos_m - goals, axis=1).max() < 0.2:
                return
    raise AssertionError("no team at its goals within 8 s")


@pytest.mark.parametrize("name", ["swap_8", "warehouse", "soccer_2v2", "lift_3"])
def test_every_kind_of_team_has_moments_of_one_shape(name: str):
    with subject_of(Choice(name, seed=3)) as subject:
        first, later = subject.source.moment, subject.source.advance()
        assert later is not None and later.time_s > first.time_s
        count = len(subject.source.scene.names)
        assert len(subject.source.scene.looks) == len(subject.source.scene.colours) == count
        for moment in (first, later):
            assert moment.pos_m.shape == (count, 3) and moment.quat_wxyz.shape == (count, 4)
            np.testing.assert_allclose(np.linalg.norm(moment.quat_wxyz, axis=1), 1.0, atol=1e-4)
        assert later.active.shape in ((count,), (0,))


def test_a_film_is_written_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(film, "find_gl", lambda: "")
    file, figures = tmp_path / "swap.gif", tmp_path / "figures.json"
    assert main(["view", "swap_4", "--film", str(file), "--seconds", "1", "--json", str(figures)]) == 0
    with Image.open(file) as image:
        assert image.size == (1280, 720) and 10 <= getattr(image, "n_frames", 1) <= 16
    assert json.loads(figures.read_text())["seconds"] == pytest.approx(1.0, abs=0.05)


def test_a_running_fleet_is_not_filmed(capsys: pytest.CaptureFixture, tmp_path: Path):
    pytest.importorskip("rclpy")
    assert main(["view", "local_4", "--film", str(tmp_path / "fleet.gif")]) == 2
    assert "--film is not for a fleet that runs; film its recording." in capsys.readouterr().err
