"""Two drones that hit the ball in turn keep their safety distance behind the filter."""

import pytest

from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.evaluate.resolve import resolve_policy

EPISODES = 8


def flown(name: str, mode: str) -> dict:
    policy, scenario = resolve_policy(name, name, kind=VolleyScenario)
    return evaluate(policy, scenario, EvalConfig("fast", EPISODES, 1, mode, progress=False)).figures


@pytest.mark.parametrize("name", ["volley_bump_pass", "volley_spike_easy"])
def test_mates_never_touch_and_keep_their_distance_behind_the_filter(name: str):
    figures = flown(name, "full")
    separation_m = resolve_policy(name, name, kind=VolleyScenario)[1].vehicle_config.safety.separation_m
    assert figures["collisions"] == 0 and figures["separation_violations"] == 0
    assert figures["min_distance_m"] >= separation_m
    assert figures["hits_mean"] > 1.5, "they play"
    assert figures["active_decisions"] > 0, "the filter had something to do"


def test_passes_without_the_filter_come_nearer():
    free, guarded = (flown("volley_bump_pass", mode)["min_distance_m"] for mode in ("off", "full"))
    assert free < guarded
