"""The scenarios' tasks, by the names that scenario files use."""

from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks.arctic_transport import ARCTIC_TRANSPORT
from robomarl.domains.ground.lab.tasks.base import GroundTask
from robomarl.domains.ground.lab.tasks.crowd import CROWD
from robomarl.domains.ground.lab.tasks.discovery import DISCOVERY
from robomarl.domains.ground.lab.tasks.foraging import FORAGING
from robomarl.domains.ground.lab.tasks.material_transport import MATERIAL_TRANSPORT
from robomarl.domains.ground.lab.tasks.navigation import NAVIGATION
from robomarl.domains.ground.lab.tasks.passage import PASSAGE
from robomarl.domains.ground.lab.tasks.predator_prey import PREDATOR_PREY
from robomarl.domains.ground.lab.tasks.rware import RWARE
from robomarl.domains.ground.lab.tasks.warehouse import WAREHOUSE

TASKS: dict[str, GroundTask] = {
    "navigation": NAVIGATION,
    "material_transport": MATERIAL_TRANSPORT,
    "discovery": DISCOVERY,
    "foraging": FORAGING,
    "arctic_transport": ARCTIC_TRANSPORT,
    "predator_prey": PREDATOR_PREY,
    "warehouse": WAREHOUSE,
    "rware": RWARE,
    "passage": PASSAGE,
    "crowd": CROWD,
}


def task_of(scenario: GroundScenario) -> GroundTask:
    """The task of a scenario."""
    return TASKS[scenario.task]
