"""The message about the floor: a robot reads one of its own task and team, and refuses any other."""

from typing import Any

import numpy as np
import pytest

from robomarl.core.hardware.field import scenario_content
from robomarl.domains.ground.core.sensed import THINGS
from robomarl.domains.ground.ros import floor
from robomarl.ros.fieldtask import Seat

convert = pytest.importorskip("robomarl.ros.convert", reason="no ROS 2")


def content_of(name: str) -> dict[str, Any]:
    return dict(scenario_content(name))


@pytest.mark.parametrize("name", ["foraging", "material_transport"])
def test_a_message_for_another_floor_or_team_is_refused(name: str):
    content = content_of(name)
    rows = THINGS[content["task"]] + len(content["team"])
    (sensor,) = floor.field_task(content, Seat(0, len(content["team"]))).sensors
    told = np.arange(3.0 * rows).reshape(rows, 3)
    np.testing.assert_array_equal(sensor.reader(convert.places_from(told, 1.0))[0], told)
    for count in (0, rows - 1, rows + 1):
        with pytest.raises(convert.MessageError, match=f"has {count} poses, .* this task and team sends {rows}"):
            sensor.reader(convert.places_from(np.zeros((count, 3)), 1.0))
