"""`Score`: a simulator's report on the current flight, in its status and at its end. No ROS."""

from typing import NamedTuple


class Score(NamedTuple):
    """The flight so far. It begins with the first command to any robot after a reset."""

    flight: int
    """Which one since the start: the first reset begins flight 1."""
    seed: int
    flight_s: float
    """Time [s] since the first command, or since all robots had climbed from the ground to the hand-over; 0 before."""
    succeeded_s: float
    """When all robots had arrived; NaN as long as they have not."""
    failed: float
    """1 when two robots touched, or the team failed: those that fly when one left the arena, but to land; with a load
    also when it fell or cables crossed."""
    collisions: int
    """How often two robots began to touch."""
    min_distance_m: float
    """Least distance between two centres, in continuous time."""
    time_limit_s: float
    """Time limit of the scenario [s]."""
    slipped_s: float
    """How much the simulator fell behind the clock since the start, all in all."""
