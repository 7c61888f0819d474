"""Teams of ground robots in one arena: the eight coordination scenarios of JaxRobotarium (arXiv 2505.06771)."""

from robomarl.domains.base import Domain

DOMAIN = Domain(
    "ground",
    ("navigation",),
    "robomarl.domains.ground.onboard:ONBOARD",
    "robomarl.domains.ground.simulation:SIMULATION",
)
