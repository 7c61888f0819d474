"""The scenarios' tasks, by the names that scenario files use."""

from typing import Any

from robomarl.domains.ground.tasks.base import GroundTask
from robomarl.domains.ground.tasks.navigation import NAVIGATION

TASKS: dict[str, GroundTask] = {"navigation": NAVIGATION}


def task_of(scenario: Any) -> GroundTask:
    """The task of a scenario."""
    return TASKS[scenario.task]
