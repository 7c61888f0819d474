"""Kinds of command of a volleyball scenario: their elements, and the rotor thrusts that they ask for. Array-generic.

The published action spaces (VolleyBots, `utils/torchrl/transforms.py`, 680493a) are the thrust of each rotor, and the
collective thrust with body rates up to 144 degrees per second, both over the whole range of the rotors.
"""

import numpy as np

from robomarl.core.geometry import components, join
from robomarl.core.spec import ActionField, ActionSpec, ObservationField, ObservationSpec
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec4, to_body
from robomarl.domains.volleyball.core.commands import RATES, ROTORS
from robomarl.domains.volleyball.lab.physics.drone import (
    Drone,
    rate_thrusts,
    rotor_thrusts,
    thrust_and_rates,
    wrench_matrix,
)
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.lab.sim.law import GainedLaw, RememberingLaw
from robomarl.lab.sim.model import accelerated

RATE_RAD_S = 2.513
"""Largest body rate of each axis."""
SEEN = ("attitude", "spin_in_world")
"""Features, seven numbers, from which a law's acceleration becomes a command of another kind."""


def action_of(scenario: VolleyScenario) -> ActionSpec:
    """Return the command of a robot."""
    vehicle = scenario.vehicle_config
    if scenario.command == "thrust_rates":
        rates = [ActionField(name, "rad/s", "body", -RATE_RAD_S, RATE_RAD_S) for name in RATES[1:]]
        return ActionSpec((ActionField(RATES[0], "m/s^2", "body", 0.0, vehicle.max_lift_m_s2), *rates))
    if scenario.command == "rotor_thrusts":
        ends = vehicle.rotors.min_thrust_n, vehicle.rotors.max_thrust_n
        return ActionSpec(tuple(ActionField(name, "N", "body", *ends) for name in ROTORS))
    return accelerated(scenario)


def asked_thrusts(scenario: VolleyScenario, drone: Drone, command: Vec4) -> Vec4:
    """Return the thrust [N] that a command of the scenario's kind asks of each rotor."""
    vehicle, (first, second, third, last) = scenario.vehicle_config, command
    if scenario.command == "rotor_thrusts":
        return command
    if scenario.command == "thrust_rates":
        return rate_thrusts(vehicle, drone, first, (second, third, last))
    return rotor_thrusts(vehicle, drone, (first, second, third), last)


def hovering(scenario: VolleyScenario) -> tuple[float, ...]:
    """Command of an upright drone that hovers."""
    if scenario.command == "thrust_rates":
        return GRAVITY_M_S2, 0.0, 0.0, 0.0
    if scenario.command == "rotor_thrusts":
        vehicle = scenario.vehicle_config  # arms are of unequal length, and so are these thrusts
        weight = np.array([vehicle.body.mass_kg * GRAVITY_M_S2, 0.0, 0.0, 0.0])
        return tuple(np.linalg.solve(wrench_matrix(vehicle), weight).tolist())
    return 0.0, 0.0, 0.0, 0.0


class CommandedLaw:
    """A law for acceleration and yaw rate, with the attitude controller behind it, for commands of another kind."""

    def __init__(self, scenario: VolleyScenario, law: GainedLaw) -> None:
        """Store the arguments."""
        self._scenario, self._law = scenario, law
        self.gains, self.search_from, self.search_step = law.gains, law.search_from, law.search_step
        self.search_least = law.search_least
        fields = tuple(map(ObservationField, SEEN))
        self.observation = ObservationSpec((*fields, *law.observation.fields), law.observation.neighbours)

    def with_gains(self, gains: object) -> "CommandedLaw":
        """Return this law with other gains."""
        return commanded(self._scenario, self._law.with_gains(gains))

    def act(self, obs: Array) -> Array:
        """Observation [..., O] -> command [..., 4] of the scenario's kind."""
        return self.converted(obs, self._law.act(obs[..., 7:]))

    def converted(self, obs: Array, wanted: Array) -> Array:
        """(observation [..., O], acceleration and yaw rate [..., 4]) -> command [..., 4] of the scenario's kind."""
        vehicle, (x, y, z, yaw) = self._scenario.vehicle_config, components(wanted)
        quat = components(obs[..., :4])
        spin = to_body(quat, components(obs[..., 4:7]))
        drone = Drone((x, y, z), quat, (x, y, z), spin, quat)  # places, speeds and rotors are not looked at
        if self._scenario.command == "rotor_thrusts":
            return join(list(rotor_thrusts(vehicle, drone, (x, y, z), yaw)))
        lift, rates = thrust_and_rates(vehicle, drone, (x, y, z), yaw)
        return join([lift, *rates])


class RememberingCommandedLaw(CommandedLaw):
    """A `CommandedLaw` for a law with a memory: it passes that memory from one decision to the next."""

    def __init__(self, scenario: VolleyScenario, law: RememberingLaw) -> None:
        """Store the arguments."""
        super().__init__(scenario, law)
        self._remembering, self.memory_size = law, law.memory_size

    def decide(self, memory: Array, obs: Array) -> tuple[Array, Array]:
        """(memory [..., M], observation [..., O]) -> (memory [..., M], command [..., 4] of the scenario's kind)."""
        after, wanted = self._remembering.decide(memory, obs[..., 7:])
        return after, self.converted(obs, wanted)


def commanded(scenario: VolleyScenario, law: GainedLaw) -> CommandedLaw:
    """Return a law for acceleration and yaw rate as a law for the scenario's kind of command."""
    return RememberingCommandedLaw(scenario, law) if isinstance(law, RememberingLaw) else CommandedLaw(scenario, law)
