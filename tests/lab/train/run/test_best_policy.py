"""Behind which filter a run's policies are judged."""

from types import SimpleNamespace
from typing import Any

import pytest

from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.run.best_policy import judged_behind


@pytest.mark.parametrize(
    ("scenario", "filter_", "expected"),
    [
        ("swap_4", "off", "off"),
        ("swap_4", "qp", "full"),
        ("recover_3", "upright", "upright"),
        ("passage_4", "off", "full"),  # its policy sets the filter's gain
    ],
)
def test_policies_are_judged_behind_the_filter_that_they_learn_with(scenario: str, filter_: Any, expected: str):
    run: Any = SimpleNamespace(config=TrainConfig(filter=filter_), env=make_env(load_scenario(scenario)))
    assert judged_behind(run) == expected
