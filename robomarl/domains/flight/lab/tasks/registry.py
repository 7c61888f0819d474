"""The table of tasks. Tasks from outside come through the `robomarl.tasks` entry points."""

from importlib.metadata import EntryPoint, entry_points

from robomarl.core.config import UserError
from robomarl.core.domain.registry import unusable
from robomarl.domains.flight.lab.payload import lift
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks import swap
from robomarl.domains.flight.lab.tasks.base import Task

TASKS: dict[str, Task] = {"swap": swap.TASK, "lift": lift.TASK}
"""Tasks by the name that scenario files use."""


def task_of(scenario: FlightScenario) -> Task:
    """The scenario's task.

    Raises:
        UserError: no task of that name, here or in an installed package.
    """
    if scenario.task not in TASKS:
        for point in entry_points(group="robomarl.tasks", name=scenario.task):
            TASKS[scenario.task] = _loaded(point, scenario)
    if scenario.task not in TASKS:
        known = ", ".join(sorted(TASKS))
        raise UserError(f"{scenario.name}.toml: task = {scenario.task!r} is not known; allowed: {known}.")
    return TASKS[scenario.task]


def _loaded(point: EntryPoint, scenario: FlightScenario) -> Task:
    try:
        task = point.load()
    except Exception as error:  # whatever another package's module raises
        said = f"{scenario.name}.toml: task = {scenario.task!r}: {unusable(point, error)}"
        raise UserError(said) from error
    if not isinstance(task, Task):
        raise UserError(f"{scenario.name}.toml: task = {scenario.task!r}: {point.value} is no flight.tasks.Task.")
    return task
