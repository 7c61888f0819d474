"""The box in which a command may break rows."""

import numpy as np

from robomarl.core.filter.qp.least import between, inside, narrowed


def test_sides_that_contradict_each_other_leave_what_is_between_them():
    """Their middle alone is one command: it drove a robot into its mate while the mate's row asked for the brake."""
    low, high = between((np.array([1.5, -1.0, 0.2]), np.array([-0.5, 2.0, 0.2])), np)
    np.testing.assert_array_equal(low, [-0.5, -1.0, 0.2])
    np.testing.assert_array_equal(high, [1.5, 2.0, 0.2])


def test_the_box_stays_inside_the_arena_and_the_place_inside_the_box():
    arena = np.full(3, -0.3), np.full(3, 3.0)
    crossed = np.full(3, 1.5), np.full(3, -0.5)
    box = narrowed(between(crossed, np), arena, np)
    np.testing.assert_array_equal(box, (np.full(3, -0.3), np.full(3, 1.5)))
    place = narrowed(crossed, box, np)
    np.testing.assert_array_equal(place, (np.full(3, 0.5), np.full(3, 0.5)))
    np.testing.assert_array_equal(inside(np.full(3, -2.0), box, np), box[0])
