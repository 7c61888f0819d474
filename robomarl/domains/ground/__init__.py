"""Teams of ground robots in one arena: coordination scenarios of JaxRobotarium (arXiv 2505.06771)."""

from robomarl.domains.base import Domain

DOMAIN = Domain(
    "ground",
    (
        *("navigation", "material_transport", "discovery", "foraging", "arctic_transport", "predator_prey"),
        *("warehouse", "rware", "passage", "crowd"),
    ),
    "robomarl.domains.ground.onboard:ONBOARD",
    "robomarl.domains.ground.simulation:SIMULATION",
)
