"""Check that robots can rest at every place that their task may draw for them."""

import numpy as np

from robomarl.core.filter.params import SafetyParams
from robomarl.core.goals.rest import rest_distances
from robomarl.core.goals.room import ROUNDING_M, goal_fault
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks.base import DrawnPlaces


def drawn_faults(drawn: DrawnPlaces, scenario: GroundScenario, params: SafetyParams) -> list[str]:
    """Return the faults of drawn places in words: outside the arena, near an obstacle, or near each other.

    Args:
        drawn: places of the task.
        scenario: scenario of the team.
        params: parameters of each robot's filter, with the arena and its obstacles.
    """
    places = np.pad(drawn.place_m, ((0, 0), (0, 1)))
    faults = [fault for place in places if (fault := goal_fault(params, place, drawn.reach_m))]
    alone = [f"a {drawn.name} at {fault}" for fault in faults]
    return [*alone, *_spacing_faults(drawn, scenario, params)]


def _spacing_faults(drawn: DrawnPlaces, scenario: GroundScenario, params: SafetyParams) -> list[str]:
    """Robots in a row have the gaps between their places, and what the outermost ones may be off outwards."""
    if drawn.beside < 2:
        return []
    rest_m = rest_distances(params, scenario.radio.latency_s + scenario.period_s).beside_m
    room_m = (drawn.beside - 1) * drawn.spacing_m + 2 * drawn.reach_m
    if room_m >= (drawn.beside - 1) * rest_m - ROUNDING_M:
        return []
    return [
        f"{drawn.beside} {drawn.name}s in a row are {drawn.spacing_m:.3g} m apart, and robots rest no nearer to each "
        f"other than {rest_m:.3f} m; they have arrived within {drawn.reach_m:g} m"
    ]
