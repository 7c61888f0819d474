"""What the simulator publishes for tasks with sensors of their own, as `robomarl.ros_nodes.fieldtask` says.

A task puts a function under its name: from the true world to the messages of its sensors.
"""

from collections.abc import Callable
from typing import Any

from robomarl.sim.scenario import Scenario
from robomarl.sim.world import World

Sense = Callable[[Scenario, World, float], dict[str, Any]]
"""(scenario, world with axes [1, ...], stamp [s]) -> message, or its bytes, by the name of the sensor's topic."""

SENSORS: dict[str, Sense] = {}
"""By the name of the task."""
