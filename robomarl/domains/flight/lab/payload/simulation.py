"""`SIMULATION` of teams that carry a load: they fly, and there is a law that flies without learning."""

from dataclasses import replace

from robomarl.domains.flight.lab import simulation as flight
from robomarl.domains.flight.lab.payload.controllers.law_policy import law_policy
from robomarl.domains.flight.lab.scenario import FlightScenario


def places(scenario: FlightScenario, robots: int) -> tuple[str, ...]:
    """Carriers have places around the load."""
    return tuple(f"place_{i}" for i in range(robots))


SIMULATION = replace(
    flight.SIMULATION,
    controllers={**flight.SIMULATION.controllers, "law": law_policy},
    roles=places,
)
