"""Robots in their tubes under attacks that an evolution finds."""

import numpy as np
import pytest

from benchmarks.certificate.swings import Search, children, drawn, worst_share
from robomarl.core.certificate import figures

LATE = Search("ssl_omni", robots=100, generations=4, seconds=5.0, delay_s=0.15)
"""Robots with little disturbance and a delay that is twice that of their file: their stiff walls make them sway."""


@pytest.mark.parametrize("vehicle", ["crazyflie_21", "carrier_600", "ssl_omni", "turtlebot3_burger"])
def test_a_short_search_finds_no_way_out_of_the_tube(vehicle: str):
    """The page has longer ones."""
    assert worst_share(Search(vehicle, robots=80, generations=3, seconds=4.0)) < 1


def test_a_short_search_finds_no_way_out_of_a_tube_with_a_long_delay():
    assert worst_share(LATE) < 0.97


def test_the_search_finds_a_way_out_of_a_tube_without_the_swing(monkeypatch: pytest.MonkeyPatch):
    """So it is able to find one, if the tube is a fifth smaller than the box's half diagonal as well."""
    monkeypatch.setattr(figures, "_swing", lambda params, accel, count: 0.0)
    monkeypatch.setattr(figures, "TUBE_SHARE", 0.8)
    assert worst_share(Search("carrier_600", robots=200, generations=5, seconds=6.0)) > 1


def test_children_keep_the_best():
    """And are of their choices, but for what is drawn anew."""
    random = np.random.default_rng(0)
    genes = drawn(random, (20, 2), 0.02)
    share = np.arange(40.0).reshape(20, 2)
    after = children(random, genes, share, 0.02)
    assert (after["late"].ravel()[:4] == genes["late"].ravel()[[39, 38, 37, 36]]).all()
    assert after["way"].shape == (20, 2, 3) and set(after) == set(genes)
