"""`SIMULATION` of teams that carry a load: they fly, and there is a law that flies without learning."""

from dataclasses import replace

from robomarl.domains.flight.lab import simulation as flight
from robomarl.domains.flight.lab.payload.controllers.decentralized import LawPolicy
from robomarl.domains.flight.lab.scenario import FlightScenario


def places(scenario: FlightScenario, robots: int) -> tuple[str, ...]:
    """Carriers have places around the load."""
    return tuple(f"place_{i}" for i in range(robots))


SIMULATION = replace(
    flight.SIMULATION,
    controllers={**flight.SIMULATION.controllers, "law": LawPolicy},
    roles=places,
)
