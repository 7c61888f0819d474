"""Robot soccer: two teams, a ball, and what each robot sees of them."""

from robomarl.domains.base import Domain

DOMAIN = Domain(
    name="soccer",
    tasks=("soccer",),
    onboard_half="robomarl.domains.soccer.onboard:ONBOARD",
    simulation_half="robomarl.domains.soccer.simulation:SIMULATION",
)
