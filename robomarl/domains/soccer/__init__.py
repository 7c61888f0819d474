"""Robot soccer: two teams, a ball, and the observations of each robot."""

from robomarl.core.domain.base import Domain

DOMAIN = Domain(
    name="soccer",
    tasks=("soccer",),
    onboard_half="robomarl.domains.soccer.core:ONBOARD",
    simulation_half="robomarl.domains.soccer.lab.simulation:SIMULATION",
)
