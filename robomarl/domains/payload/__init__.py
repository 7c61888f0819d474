"""A rigid load on cables: one more part of the world, for scenarios with the sections `load` and `cables`."""

from robomarl.domains.base import Domain

DOMAIN = Domain(
    name="payload",
    tasks=("lift",),
    onboard_half="robomarl.domains.payload.onboard:ONBOARD",
    simulation_half="robomarl.domains.payload.simulation:SIMULATION",
)
