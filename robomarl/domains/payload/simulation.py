"""`SIMULATION` of teams that carry a load: they fly, and there is a law that flies without learning."""

from dataclasses import replace

from robomarl.domains.flight import simulation as flight
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.payload.controllers.decentralized import LawPolicy
from robomarl.domains.payload.field.hang import find_payload


def places(scenario: FlightScenario, robots: int) -> tuple[str, ...]:
    """Carriers have places around the load."""
    return tuple(f"place_{i}" for i in range(robots))


SIMULATION = replace(
    flight.SIMULATION,
    controllers={**flight.SIMULATION.controllers, "law": LawPolicy},
    roles=places,
    carried=find_payload,
)
