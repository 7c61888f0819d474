"""When a robot of a recording had its goals."""

import numpy as np

from robomarl.core.view import Goal
from robomarl.field.replay.goals import RecordedGoals

FIRST, SECOND, THIRD = (Goal(pos_m=np.full(3, x), quat_wxyz=np.eye(4)[0]) for x in (1.0, 2.0, 3.0))


def test_a_goal_counts_once_the_robot_has_looked_for_it():
    goals = RecordedGoals()
    goals.tell(FIRST, 1.0)
    assert goals.had(0, 1.5) == []
    assert goals.had(1, 2.0) == [FIRST]
    goals.tell(SECOND, 2.1)
    assert goals.had(1, 2.5) == []
    assert goals.had(2, 3.0) == [SECOND]


def test_a_slow_recorder_has_it_later_than_the_robot():
    goals = RecordedGoals()
    assert goals.had(0, 1.0) == []
    goals.tell(FIRST, 1.3)
    goals.tell(SECOND, 1.4)
    assert goals.had(1, 1.2) == [FIRST]
    assert goals.had(1, 1.5) == []
    assert goals.had(2, 1.6) == [SECOND]


def test_of_goals_before_the_recording_and_before_a_restart_the_last_one_counts():
    goals = RecordedGoals()
    goals.tell(FIRST, 0.5)
    goals.tell(SECOND, 0.6)
    assert goals.had(7, 1.0) == [FIRST, SECOND]
    goals.tell(THIRD, 1.5)
    assert goals.had(1, 2.0) == [THIRD], "the node began anew and counts from the start"
