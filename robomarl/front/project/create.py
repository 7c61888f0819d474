"""`create`: the files of a new project, made from the templates beside this module."""

import keyword
import re
from importlib.util import find_spec
from pathlib import Path
from string import Template

from robomarl.core.config import UserError
from robomarl.core.domain.registry import domains

TEMPLATES = Path(__file__).with_name("template")
FILES = {
    "pyproject.toml": "pyproject.toml.template",
    "README.md": "README.template",
    "{package}.toml": "scenario.template",
    "recipe.toml": "recipe.template",
    "fleet.yaml": "fleet.template",
    "{package}/__init__.py": "package.template",
    "{package}/task.py": "task.template",
    "tests/test_task.py": "test_task.template",
}
"""Template of each file; `{package}` is the task's name, which is also the name of the package."""
IGNORED = "runs/\nbundles/\n__pycache__/\n*.egg-info/\n.venv/\n"


def create(folder: Path, task: str = "") -> list[Path]:
    """Write a project, and return its files.

    Args:
        folder: folder of the project, which is new or empty.
        task: name of the task and of the package; "": the folder's name.

    Raises:
        UserError: the folder is not empty or can't be made, or the name can't be used.
    """
    package = task or re.sub(r"\W", "_", folder.absolute().name.lower())
    check_name(package, task)
    check_empty(folder)
    words = {"package": package, "project": package.replace("_", "-")}
    texts = {name: Template((TEMPLATES / of).read_text()).substitute(words) for name, of in FILES.items()}
    written = [write(folder / name.format(package=package), text) for name, text in texts.items()]
    return [*written, write(folder / ".gitignore", IGNORED)]


def check_name(package: str, task: str) -> None:
    """Check that the name can be the name of a task and of a package.

    Raises:
        UserError: it is no name of Python, or something else has it.
    """
    told, other = f"task {package!r}" if task else f"the folder's name as a task, {package!r}", "choose another: --task"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", package) or keyword.iskeyword(package):
        raise UserError(f"{told}: must be small letters, digits and _, and begin with a letter; {other} my_task.")
    if any(package in domain.tasks for domain in domains().values()):
        raise UserError(f"{told}: robomarl has a task of that name; {other} my_{package}.")
    if package == "tests" or find_spec(package) is not None:
        raise UserError(f"{told}: Python has a module of that name; {other} my_{package}.")


def check_empty(folder: Path) -> None:
    """Raises `UserError` unless the folder is empty or can be made."""
    try:
        if any(folder.iterdir()):
            raise UserError(f"{folder}: is not empty; name a new folder.")
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}; name a new folder.") from None


def write(file: Path, text: str) -> Path:
    """Write a file and the folders above it; returns the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file
