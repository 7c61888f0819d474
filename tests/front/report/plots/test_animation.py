"""The animated map of a flight."""

import numpy as np

from robomarl.front.report.plots.animation import animated_map
from tests.front.report.synthetic import make_flight


def test_goals_that_nobody_told_are_left_out():
    log = make_flight()
    whole = animated_map(log, [f"r{i}" for i in range(log.pos_m.shape[1])], "flight")
    goals = log.goal_m.copy()
    goals[:, 0] = np.nan
    part = animated_map(log._replace(goal_m=goals), [f"r{i}" for i in range(log.pos_m.shape[1])], "flight")
    assert whole.count("l8 8m0 -8l-8 8") - part.count("l8 8m0 -8l-8 8") == 1
    assert "nan" not in part
