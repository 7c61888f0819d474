"""Teams of ground robots in one arena: coordination scenarios of JaxRobotarium (arXiv 2505.06771)."""

from robomarl.core.domain.base import Domain

DOMAIN = Domain(
    "ground",
    (
        *("navigation", "material_transport", "discovery", "foraging", "arctic_transport", "predator_prey"),
        *("warehouse", "rware", "passage", "crowd"),
    ),
    "robomarl.domains.ground.core:ONBOARD",
    "robomarl.domains.ground.lab.simulation:SIMULATION",
)
