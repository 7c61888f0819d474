"""Teams of quadrotors, and the load on cables that some teams carry."""

from robomarl.core.domain.base import Domain

DOMAIN = Domain(
    name="flight",
    tasks=("swap",),
    onboard_half="robomarl.domains.flight.core.onboard:ONBOARD",
    simulation_half="robomarl.domains.flight.lab.simulation:SIMULATION",
    field_half="robomarl.domains.flight.field.work:FIELD",
)

PAYLOAD = Domain(
    name="payload",
    tasks=("lift",),
    onboard_half="robomarl.domains.flight.core.payload:ONBOARD",
    simulation_half="robomarl.domains.flight.lab.payload.simulation:SIMULATION",
    field_half="robomarl.domains.flight.field.work:PAYLOAD",
)
"""A rigid load on cables: one more part of the world, for scenarios with the sections `load` and `cables`."""
