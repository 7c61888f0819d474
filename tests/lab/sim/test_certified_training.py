"""Teams that train behind the certificate: numpy and JAX decide alike, and robots that want to collide do not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import may_share, training_env
from robomarl.lab.train.config import TrainConfig


@pytest.mark.parametrize(
    "flight",
    ["decides_in_jax_as_in_numpy", pytest.param("robots_that_fly_at_each_other_keep_away", marks=pytest.mark.slow)],
)
def test_teams_that_train_behind_the_certificate(root: Path, flight: str):
    """In a process of its own: XLA does not end where it shares results of loops, as earlier tests may have told it."""
    code = f"from tests.lab.sim.certified_training import {flight}; {flight}()"
    env = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=env, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-3000:]


def test_xla_shares_no_results_behind_the_certificate():
    scenario = load_scenario("swap_4")
    assert may_share(TrainConfig(scenario="swap_4"), scenario)
    assert not may_share(TrainConfig(scenario="swap_4", filter="certificate"), scenario)


def test_a_game_does_not_train_behind_the_certificate():
    config = TrainConfig(scenario="volley_1v1", filter="certificate")
    with pytest.raises(UserError, match=r"certificate.*volley_1v1 is a game"):
        training_env(config, load_scenario("volley_1v1"))
