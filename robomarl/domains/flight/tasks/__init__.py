"""Tasks: reward and termination, one file each, in one registry."""

from robomarl.domains.flight.tasks.base import TASKS, GainedLaw, Task, gained_law, task_of

__all__ = ["TASKS", "GainedLaw", "Task", "gained_law", "task_of"]
