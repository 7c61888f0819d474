"""Points on lines that go to a flag; where on its line it stands, each robot only senses."""

from robomarl.core.domain.base import Domain

DOMAIN = Domain("flags", ("flag",), "flag_team.onboard:ONBOARD", "flag_team.simulation:SIMULATION")
