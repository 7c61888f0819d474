"""The mean of the weights along a run: by hand, and that it is what is deployed while the learner keeps its own."""

from typing import Any

import numpy as np
import pytest

from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.polyak import averaging, deployed, with_mean
from robomarl.lab.train.run.weights import weights_of, with_weights
from robomarl.lab.train.state import TrainState

NOTHING: list[Any] = [None] * (len(TrainState._fields) - len(TrainState._field_defaults))


def state_of(actor: float, **changes: Any) -> TrainState:
    params = {"actor": {"w": np.array([actor])}, "critic": {"w": np.array([9.0])}}
    return TrainState(*NOTHING)._replace(params=params, **changes)


def test_the_mean_follows_the_weights_and_the_learner_does_not_follow_the_mean():
    config = TrainConfig(average_over=4.0)
    step = averaging(config, lambda s: (state_of(s.params["actor"]["w"][0] + 8, averaged=s.averaged), {}))
    state, means = with_mean(config, state_of(0.0)), []
    for _ in range(3):
        state, _ = step(state)
        means.append(float(deployed(state)["w"][0]))
    assert means == [2.0, 5.5, 10.125]  # 0 + 8/4, 2 + 14/4, 5.5 + 18.5/4
    assert state.params["actor"]["w"] == [24.0]


@pytest.mark.parametrize("over", [0.0, 1.0, 0.5])
def test_without_averaging_or_over_one_update_the_newest_weights_are_deployed(over: float):
    config = TrainConfig(average_over=over)
    step = averaging(config, lambda s: (state_of(7.0, averaged=s.averaged), {}))
    state = with_mean(config, state_of(3.0))
    assert (state.averaged == ()) == (over == 0)
    assert deployed(step(state)[0])["w"] == [7.0]


def test_what_init_takes_is_the_mean_and_a_run_that_averages_begins_with_it():
    there = state_of(3.0, averaged={"w": np.array([5.0])})
    weights = weights_of(there)
    assert weights["['params']['actor']['w']"] == [5.0]
    assert weights["['params']['critic']['w']"] == [9.0]
    here = with_weights(with_mean(TrainConfig(average_over=4.0), state_of(0.0)), weights, "--init")
    assert [float(x["w"][0]) for x in (here.params["actor"], here.averaged)] == [5.0, 5.0]
    assert with_weights(state_of(0.0), weights, "--init").averaged == ()
