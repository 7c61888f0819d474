"""`FlightWorld`: the true state of a flying team at one decision. Array-generic; see `step` for the next.

Shapes: `...` is the batch of environments (empty inside `vmap`), N the robots.
"""

import math
from typing import NamedTuple

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.flight.lab.payload.state import Load
from robomarl.domains.flight.lab.quadrotor import Physics, RigidVehicle, Vec3
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.sim.message import Air, Message


class StateEstimates(NamedTuple):
    """State estimates of all robots."""

    pos_m: Array
    """[..., N, 3] world."""
    vel_m_s: Array
    """[..., N, 3] world."""


class FlightParameters(NamedTuple):
    """Randomized parameters of this episode; no robot knows them."""

    physics: Physics
    """[..., N] each."""
    delay_substeps: Array
    """[..., N] int: sub-steps from decision to low-level controller."""
    noise_scale: Array
    """[..., N] factor on the sensing noise."""
    packet_loss: Array
    """[..., N] probability that this robot does not receive a message."""
    wind_m_s: Vec3
    """[..., N] each: steady wind, world."""
    gust_m_s: Array
    """[..., N] standard deviation of gusts."""


class FlightWorld(NamedTuple):
    """Everything that is true at one decision."""

    body: RigidVehicle
    """[..., N] each component."""
    queue: tuple[Array, ...]
    """Commands by age, newest first, [..., N, A] each, which the delay still holds back."""
    hidden: FlightParameters
    gust_m_s: Vec3
    """[..., N] each: gust on top of the steady wind, world."""
    measured: StateEstimates
    """State estimates now."""
    sent: tuple[Message, ...]
    """Messages on their way through the radio, newest first."""
    air: Air
    goal_m: Array
    """[..., N, 3] world."""
    arrived_s: Array
    """[..., N] how long the robot has been at its goal, slow enough."""
    closest_m: Array
    """[..., N] least distance to any other robot since the last decision, in continuous time."""
    step: Array
    """[...] int: decisions since the start."""
    control: tuple = ()
    """Memory of the low-level controllers, [..., N] each component; empty for those without."""
    load: Load | tuple[()] = ()
    """Load of the team; empty if the team carries none."""
    member: Array | tuple[()] = ()
    """[...] int: which of a residual's ensemble moves the team; empty where the scenario has none."""
    missed: Array | tuple[()] = ()
    """[..., N] int: robots nearby that this one was not compared with, because its cells held too many; empty where
    all pairs are compared."""

    @property
    def near(self) -> Array | None:
        """[..., N, K] index of the mates that each robot knows of; None where it knows of all."""
        mates = self.air.mates if isinstance(self.air, Air) else ()
        return None if isinstance(mates, tuple) else mates

    @property
    def carried(self) -> Load:
        """Load of the team; raises `ValueError` if the team carries none."""
        if not isinstance(self.load, Load):
            raise ValueError("Only worlds of scenarios with a load have one.")
        return self.load


def positions(body: RigidVehicle) -> Array:
    """[..., N, 3] positions, world [m]."""
    return namespace(*body.pos).stack(body.pos, -1)


def velocities(body: RigidVehicle) -> Array:
    """[..., N, 3] velocities, world [m/s]."""
    return namespace(*body.vel).stack(body.vel, -1)


def queue_length(scenario: FlightScenario) -> int:
    """Commands that may be in force within one decision, the newest included."""
    return 1 + math.ceil(scenario.randomize.delay_s[1] / scenario.period_s - 1e-9)
