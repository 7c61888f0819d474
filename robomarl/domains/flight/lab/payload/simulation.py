"""`SIMULATION` of teams that carry a load: they fly, and there is a law that flies without learning."""

from dataclasses import replace

from robomarl.domains.flight.lab import simulation as flight
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.lab.sim.law import FlownLaw


def law_policy(scenario: FlightScenario) -> FlownLaw:
    """The law of the scenario's task as a policy: `robomarl eval law --scenario lift_3`."""
    task = task_of(scenario)
    assert task.law is not None, "a scenario of carriers has a law"
    return FlownLaw(scenario, task.law(scenario), task.action(scenario), "law")


def places(scenario: FlightScenario, robots: int) -> tuple[str, ...]:
    """Carriers have places around the load."""
    return tuple(f"place_{i}" for i in range(robots))


SIMULATION = replace(
    flight.SIMULATION,
    controllers={**flight.SIMULATION.controllers, "law": law_policy},
    roles=places,
)
