"""`SIMULATION` of teams that carry a load: they fly, and there is a law that flies without learning."""

from dataclasses import replace

from robomarl.domains.flight import simulation as flight
from robomarl.domains.payload.controllers.decentralized import LawPolicy

SIMULATION = replace(flight.SIMULATION, controllers={**flight.SIMULATION.controllers, "law": LawPolicy})
