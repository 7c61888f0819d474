"""Robot soccer: two teams, a ball, and what each robot sees of them."""

from robomarl.core.domain.base import Domain

DOMAIN = Domain(
    name="soccer",
    tasks=("soccer",),
    onboard_half="robomarl.domains.soccer.core:ONBOARD",
    simulation_half="robomarl.domains.soccer.lab.simulation:SIMULATION",
)
