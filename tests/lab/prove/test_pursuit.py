"""Strangers in `robomarl prove --filter certificate`: where the safety parameters of a scenario have some."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.front.cli import main
from robomarl.front.cli.prove import trial_of
from robomarl.front.cli.prove_args import Args
from robomarl.lab.certified import CertifiedTeam, in_order
from robomarl.lab.prove.campaign.prove import Trial, fly, params_of


def soccer(strangers: int | None = None) -> Trial:
    return trial_of(Args("soccer_2v2", agent_steps=1.0, filter="certificate", seconds=6.0, strangers=strangers))


def test_opponents_hunt_the_team_and_reach_nobody_in_motion(tmp_path: Path, capsys: pytest.CaptureFixture):
    words = ["--filter", "certificate", "--seconds", "5", "--agent-steps", "3000", "--seed", "3"]
    file, out = tmp_path / "figures.json", tmp_path / "out"
    assert main(["prove", "soccer_2v2", *words, "--json", str(file), "--out", str(out)]) == 0
    found = json.loads(file.read_text())
    assert found["passed"] and found["hit_in_motion_episodes"] == 0 and found["min_stranger_m"] > 0.18
    assert found["hit_at_rest_episodes"] > 0, "strangers do reach them"
    assert found["moving_share"] > 0.1, "and they do move"
    assert "proved: strangers, " in capsys.readouterr().out
    assert f"0 of {found['episodes']}" in (out / "report.html").read_text().split("Hit in motion")[1][:200]


def test_robots_that_expect_slow_strangers_are_hit_in_motion():
    """The strangers are as fast as declared, and robots are told of a tenth of it: the campaign finds them."""
    trial = soccer()
    params = params_of(trial)
    assert params.strangers is not None and trial.strangers == trial.campaign.count == 2
    slow = dataclasses.replace(params.strangers, speed_m_s=0.2, accel_m_s2=0.2)
    guard = CertifiedTeam(dataclasses.replace(params, strangers=slow), trial.vehicle.body.radius_m, in_order)
    tally = fly(trial, guard, 12, np.random.default_rng(3))
    assert tally.reached is not None and tally.reached.moving > 3


def test_the_number_of_strangers_can_be_named():
    assert soccer(strangers=5).strangers == 5
    assert soccer(strangers=0).told is None
    assert trial_of(Args("ssl_omni", filter="certificate")).strangers == 0, "a vehicle file says nothing of them"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["soccer_2v2"], "--strangers 2 belongs to --filter certificate"),
        (["swap_8", "--filter", "certificate"], "nothing is assumed of strangers in the safety parameters of swap_8"),
    ],
)
def test_strangers_of_whom_nothing_is_assumed_are_refused(words: list[str], said: str, capsys: pytest.CaptureFixture):
    assert main(["prove", *words, "--strangers", "2"]) == 2
    assert said in capsys.readouterr().err
    with pytest.raises(UserError, match=said):
        trial_of(Args(words[0], filter="certificate" if len(words) > 1 else "full", strangers=2))
