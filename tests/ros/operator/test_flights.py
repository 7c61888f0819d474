"""How long a simulated flight is waited for."""

import math

import pytest

from robomarl.ros.operator.flights import latest_end


def test_a_flight_is_waited_for_as_long_as_it_may_take_at_a_quarter_of_real_time():
    """A limit of 138.6 s: 4 times that and a second, and never later than it was once said."""
    first = latest_end(math.inf, 10.0, 138.6)
    assert first == pytest.approx(10.0 + 4 * 138.6 + 1.0)
    assert latest_end(first, 20.0, 138.6) == first, "a simulator that stands still is given up"
    assert latest_end(first, 110.0, 38.6) == pytest.approx(110.0 + 4 * 38.6 + 1.0)
