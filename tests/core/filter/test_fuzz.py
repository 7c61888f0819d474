"""The backends on ugly decisions, `robomarl bench filter --case exactness` in short: equal to 1e-9, whatever comes."""

import dataclasses

import numpy as np
import pytest

from benchmarks.filter import fuzz, fuzz_jax, uglies
from robomarl.core.filter import kernel
from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.view import blank_view

COUNT = 2000
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def test_all_backends_decide_the_same():
    """Where rows meet at 1e-8 rad, what is within tolerance is no nearer than 1e-6; one in thirty thousand is so.

    Python for one robot has another solver: where a robot at an absurd speed has but a corner of its box left, 1e-6
    wide, it may find the point in it that the others do not, which brake there.
    """
    for tally in fuzz.campaign(COUNT):
        assert tally.cases >= COUNT
        assert tally.undecided <= 0.03 * tally.cases
        if tally.name == "numpy for one robot":
            assert tally.off <= 0.01 * tally.cases
            assert all(found[2]["result.command"] <= 1.1e-6 for found in tally.found)
        else:
            assert tally.other_reason == tally.off == 0, tally.found
            assert tally.furthest <= 1e-6


def test_the_filter_of_training_and_the_text_of_graphs_decide_the_same_for_one_vehicle(monkeypatch):
    """It is small: each operation is compiled anew for every number of mates."""
    monkeypatch.setattr(fuzz, "vehicles", lambda: {"omnidirectional": uglies.vehicles()["omnidirectional"]})
    for tally in fuzz.campaign(200, 3, fuzz_jax.backends())[-2:]:
        assert tally.undecided < 20
        assert tally.other_reason == tally.off == 0, tally.found


@pytest.mark.slow
def test_the_filter_of_training_and_the_text_of_graphs_decide_the_same_in_double_precision():
    for tally in fuzz.campaign(COUNT, 1, fuzz_jax.backends())[-2:]:
        assert tally.other_reason == tally.off == 0, tally.found


def test_a_backend_that_is_wrong_is_found():
    """One that takes ages below 0 as they are."""

    def planted(params, case):
        heard = case.view.heard
        late = heard._replace(age_s=np.where(heard.age_s < 0, 0.0, heard.age_s))
        return fuzz.many("numpy")(params, case._replace(view=case.view._replace(heard=late)))

    *_, tally = fuzz.campaign(500, more={"planted": planted})
    assert tally.name == "planted"
    assert tally.off > 5


@pytest.mark.parametrize("gain", [0.0, 1e-12, 1e-3, None])
@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_mate_that_is_not_heard_binds_at_no_gain(backend, gain):
    """It had been put a kilometre away, and near a gain of 0 robots may not come nearer to what is there."""
    if backend == "c" and not kernel.usable():
        pytest.skip("the C kernel is not built here")
    params = dataclasses.replace(uglies.vehicles()["quadrotor without an arena"], min_mates=0)
    safety = SafetyFilter(params, backend=backend)
    view = blank_view(1, batch=(1,))
    view.own.pos_m[:] = [0.0, 0.0, 1.2]
    nominal, gains = np.array([[0.3, 0.3, 0.3, 0.0]]), None if gain is None else np.full(1, gain)
    _, result = safety(safety.init((1,)), view, nominal, gains)
    np.testing.assert_array_equal(result.command, nominal)


@pytest.mark.parametrize("name", uglies.vehicles())
def test_what_is_drawn_is_ugly_and_fine(name: str):
    """Every vehicle decides both freely and by each of the common fallbacks."""
    params, random = uglies.vehicles()[name], np.random.default_rng(3)
    reasons = set()
    for _ in range(4):
        case = uglies.draw(params, random, 200, 5 if name == "carrier" else 4)
        reasons |= set(fuzz.many("numpy")(params, case)["result.reason"].astype(int).tolist())
    assert {0, 1, 2, 3} <= reasons
