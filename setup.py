"""What ROS 2 needs: colcon runs this file, and only here are data files. The rest is in pyproject.toml."""

import os
from importlib.util import find_spec
from pathlib import Path

from setuptools import setup

SHARE = "share/robomarl"
# pyproject.toml is among them because `colcon build --symlink-install` runs setup.py in a folder that
# holds nothing but the data files, and the project's name and scripts are in it.
ROOT_FILES = ["package.xml", "pyproject.toml", "README.md", "LICENSE"]
DATA_FOLDERS = ["sim", "policies", "ros_nodes", "hardware_configs"]
# The C kernel of the safety filter: optional. Without cffi here, or without a compiler, everything else is installed.
KERNEL = "robomarl/core/filter/kernel/build.py"


def is_data(path: Path) -> bool:
    """Whether a file is to be installed: not what Python, editors or the desktop leave behind."""
    return path.is_file() and not any(part.startswith((".", "__pycache__")) for part in path.parts)


def share(folder: str) -> list[tuple[str, list[str]]]:
    """One entry per directory, so that the tree arrives as it is; a folder that is empty has none."""
    tree: dict[str, list[str]] = {}
    for path in filter(is_data, sorted(Path(folder).rglob("*"))):
        tree.setdefault(f"{SHARE}/{path.parent.as_posix()}", []).append(path.as_posix())
    return list(tree.items())


def kernel() -> dict[str, list[str]]:
    """What tells setuptools of the C kernel. colcon reads all arguments as literals: this is one."""
    wanted = "ROBOMARL_PURE" not in os.environ  # `robomarl fleet setup` sends one wheel to robots of any processor
    return {"cffi_modules": [f"{KERNEL}:builder"]} if wanted and find_spec("cffi") and Path(KERNEL).is_file() else {}


setup(
    # Plain strings, here and not in pyproject.toml: colcon fails on the parsed form of requires-python,
    # and no one spelling of the licence suits both old and new setuptools.
    python_requires=">=3.11",
    license="Apache-2.0",
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/robomarl"]),
        (SHARE, [name for name in ROOT_FILES if Path(name).is_file()]),
        *(entry for folder in DATA_FOLDERS for entry in share(folder)),
    ],
    **kernel(),
)
