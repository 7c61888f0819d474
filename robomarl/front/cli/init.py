"""Make a project of your own: a task with its reward, a scenario, a recipe, a fleet, a test and a README."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder


@dataclass(frozen=True)
class Args:
    """Options of `robomarl init`."""

    dir: Annotated[OutFolder, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Folder of the project; it must be new or empty."""
    task: str = ""
    """Name of the task and of its Python package; by default the folder's name."""


def run(args: Args) -> Figures:
    """Write the files; print their names and the commands that follow."""
    from robomarl.front.project.create import create

    files = create(args.dir, args.task)
    for file in files:
        print(file)
    print(f"Next: cd {args.dir} && pip install -e '.[test]' && pytest; README.md has the commands up to a flight.")
    return {"files": [str(file) for file in files]}
