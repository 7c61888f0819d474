"""Ground robots that share an area: each drives to the middle of what is nearest to it."""

from robomarl.core.domain.base import Domain

DOMAIN = Domain("cover", ("cover",), "cover_team.onboard:ONBOARD", "cover_team.simulation:SIMULATION")
