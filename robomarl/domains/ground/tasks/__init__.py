"""The scenarios' tasks, by the names that scenario files use."""

from typing import Any

from robomarl.domains.ground.tasks.arctic_transport import ARCTIC_TRANSPORT
from robomarl.domains.ground.tasks.base import GroundTask
from robomarl.domains.ground.tasks.crowd import CROWD
from robomarl.domains.ground.tasks.discovery import DISCOVERY
from robomarl.domains.ground.tasks.foraging import FORAGING
from robomarl.domains.ground.tasks.material_transport import MATERIAL_TRANSPORT
from robomarl.domains.ground.tasks.navigation import NAVIGATION
from robomarl.domains.ground.tasks.passage import PASSAGE
from robomarl.domains.ground.tasks.predator_prey import PREDATOR_PREY
from robomarl.domains.ground.tasks.rware import RWARE
from robomarl.domains.ground.tasks.warehouse import WAREHOUSE

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


def task_of(scenario: Any) -> GroundTask:
    """The task of a scenario."""
    return TASKS[scenario.task]
