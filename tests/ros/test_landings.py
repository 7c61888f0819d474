"""Who lands, and who was outside the arena."""

import numpy as np
import pytest

from robomarl.domains.flight.field.landings import Landings

FLOOR_M, RADIUS_M, DT_S = 0.3, 0.07, 0.1
LANDS = [1.0, 0.5, 0.29, 0.2, 0.11, 0.1]


def watched(heights: list[float], speed_m_s: float = -0.3, dt_s: float = DT_S) -> tuple[list[bool], bool]:
    """Of the first of two robots, of which the other one flies on: whether it lands, each time; whether one came up."""
    landings, lands, dived = Landings(2, FLOOR_M, RADIUS_M), [], False
    for i, z in enumerate(heights):
        pos, vel = np.array([[0, 0, z], [1, 0, 1.0]]), np.array([[0, 0, speed_m_s], [0, 0, 0.0]])
        first, second = landings.note(pos, vel, i * dt_s)
        assert not second
        lands.append(bool(first))
        dived |= landings.came_up(pos)
    return lands, dived


@pytest.mark.parametrize("after", [[], [0.1] * 200, [0.2, 0.4, 1.0], [0.2, 0.4, 1.0, *LANDS, 1.0]])
def test_who_comes_to_the_ground_has_landed_and_may_take_off(after: list[float]):
    heights = LANDS + after
    assert watched(heights) == ([z < FLOOR_M for z in heights], False)


def test_who_comes_up_without_having_stood_was_outside():
    assert watched([1.0, 0.29, 0.2, 0.29, 0.31])[1]
    assert watched([*LANDS, 1.0, 0.2, 1.0])[1], "each time"


def test_who_falls_or_hovers_below_the_floor_is_outside():
    assert watched(LANDS, speed_m_s=-1.1)[0] == [False] * len(LANDS)
    assert watched([0.2] * 103)[0] == [True] * 101 + [False] * 2
