"""`SIMULATION` of teams that carry a load: they fly, and each has its place."""

from dataclasses import replace

from robomarl.domains.flight.lab import simulation as flight
from robomarl.domains.flight.lab.payload.start_distances import check_start
from robomarl.domains.flight.lab.scenario import FlightScenario


def places(scenario: FlightScenario, robots: int) -> tuple[str, ...]:
    """Carriers have places around the load."""
    return tuple(f"place_{i}" for i in range(robots))


SIMULATION = replace(flight.SIMULATION, roles=places, check_certified=check_start)
