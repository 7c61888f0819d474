"""What policies of the task `swap` see."""

import math
from dataclasses import replace

from robomarl.core.spec import ObservationField
from robomarl.domains.flight.lab.tasks.swap import observation
from robomarl.lab.sim.scenario import load_scenario


def test_policies_see_a_mean_of_their_error_where_the_scenario_says_over_what_time():
    scenario = load_scenario("swap_4")
    without = observation(replace(scenario, remembered_s=0.0))
    remembers = observation(replace(scenario, remembered_s=0.5))
    assert remembers.fields == (*without.fields, ObservationField("near_error", keep=math.exp(-0.02 / 0.5)))
    assert remembers.neighbours == without.neighbours
    assert without.memory_shapes == []
