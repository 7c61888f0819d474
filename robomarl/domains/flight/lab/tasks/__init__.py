"""Tasks: reward and termination, one file each, in one registry."""

from robomarl.domains.flight.lab.tasks.base import TASKS, Task, task_of

__all__ = ["TASKS", "Task", "task_of"]
