"""Estimates that come in a burst are as far apart as the vehicle says."""

import numpy as np
import pytest

from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.guarded import between_s
from robomarl.vehicles.samples import StateSample

STILL = Estimate(np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))


@pytest.mark.parametrize(
    ("before", "after", "seconds"),
    [
        ((1.0, 500), (1.02, 520), 0.02),
        ((1.0, 500), (1.001, 700), 0.2),  # a burst
        ((1.0, 500), (1.3, 520), 0.3),  # it was held up on the way
        ((1.0, 2**24 - 10), (1.02, 10), 0.02),  # the clock has 24 bits
        ((1.0, 90_000), (3.0, 20), 2.0),  # started anew
    ],
)
def test_time_between_estimates(before: tuple[float, int], after: tuple[float, int], seconds: float):
    assert between_s(StateSample(STILL, *before), StateSample(STILL, *after)) == pytest.approx(seconds)
