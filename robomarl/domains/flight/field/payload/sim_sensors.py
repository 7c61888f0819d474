"""Sensor messages that the simulator publishes for tasks with sensors of their own, as
`robomarl.ros.fieldtask` specifies.

A task puts a function under its name: from the true world to the messages of its sensors.
"""

from collections.abc import Callable

from robomarl.core.view import Goal
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.domains.flight.ros.payload.topics import LOAD_POSE
from robomarl.ros import convert
from robomarl.ros.io.messages import Message

Sense = Callable[[FlightScenario, FlightWorld, float], dict[str, Message]]
"""(scenario, world with axes [1, ...], stamp [s]) -> message, or its bytes, by the name of the sensor's topic."""


def sense_load(scenario: FlightScenario, world: FlightWorld, stamp_s: float) -> dict[str, Message]:
    """The load's pose as motion capture has it: one measurement for all robots."""
    measured = Goal(world.carried.measured_pos_m[0, 0], world.carried.measured_quat[0, 0])
    return {LOAD_POSE.name: convert.goal_from(measured, stamp_s)}


SENSORS: dict[str, Sense] = {"lift": sense_load}
"""Sensor functions by the name of the task."""
