"""Teams of quadrotors that fly freely."""

from robomarl.domains.base import Domain

DOMAIN = Domain(
    name="flight",
    tasks=("swap",),
    onboard_half="robomarl.domains.flight.onboard:ONBOARD",
    simulation_half="robomarl.domains.flight.simulation:SIMULATION",
)
