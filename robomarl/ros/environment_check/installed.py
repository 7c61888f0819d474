"""Which ROS this Python has, and whether the environment asks for another one. No ROS here: it may not load."""

import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from robomarl.core.config import suggest

MIDDLEWARES = Path("share", "ament_index", "resource_index", "rmw_typesupport")
"""A file for each middleware, below the folder that a ROS is installed in."""
NO_MIDDLEWARE = "rmw_implementation"
"""File in that folder that is no middleware but loads one."""
COMPILED = "_rclpy_pybind11"
"""The part of rclpy that is for one version of Python."""
DISTRIBUTIONS = Path("/opt/ros")


def installed_problems(environment: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable that asks for a ROS that is not installed, or for another Python."""
    folder = rclpy_folder()
    if folder is None:
        yield from _unsourced(environment)
        return
    yield from _python(folder, environment)
    prefix = prefix_of(folder)
    if prefix is None:
        return
    yield from _middleware(prefix, environment)


def rclpy_folder() -> Path | None:
    """Return the folder of this Python's rclpy; None if it has none."""
    try:
        spec = find_spec("rclpy")
    except (ValueError, ImportError):
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def prefix_of(folder: Path) -> Path | None:
    """The folder that the ROS of an rclpy is installed in; None where it has no index of middlewares."""
    return next((parent for parent in folder.parents if (parent / MIDDLEWARES).is_dir()), None)


def _unsourced(environment: Mapping[str, str]) -> Iterator[str]:
    """A distribution is named, or there, but not on the path of this Python."""
    named = environment.get("ROS_DISTRO", "")
    setup = DISTRIBUTIONS / (named or "*") / "setup.bash"
    found = sorted(DISTRIBUTIONS.glob(str(setup.relative_to(DISTRIBUTIONS)))) if DISTRIBUTIONS.is_dir() else []
    if named or found:
        what = f"ROS_DISTRO={named}" if named else "PYTHONPATH=" + environment.get("PYTHONPATH", "")
        yield (
            f"{what}: Python {_version()} ({sys.executable}) finds no rclpy; run: source "
            f"{found[0] if found else setup}, with the Python of that distribution, or: pip install 'robomarl[ros]'."
        )


def _python(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The part of rclpy that is compiled is for one version of Python."""
    built = sorted(folder.glob(f"{COMPILED}*.so"))
    if built and not any(file.name.removeprefix(COMPILED) in EXTENSION_SUFFIXES for file in built):
        wanted = built[0].name.split(".")[1]
        yield (
            f"PYTHONPATH={environment.get('PYTHONPATH', '')}: the rclpy in {folder} is for {wanted}, this is Python "
            f"{_version()} ({sys.executable}); use that Python, or a shell in which that ROS was not sourced."
        )


def _middleware(prefix: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """ROS ends the process with status 102 when it is imported."""
    there = _prefixes(prefix, environment)
    names = sorted({file.name for folder in there for file in (folder / MIDDLEWARES).glob("*")} - {NO_MIDDLEWARE})
    for name in ("RMW_IMPLEMENTATION", "RCL_ASSERT_RMW_ID_MATCHES"):
        if names and (value := environment.get(name, "")) and value not in names:
            yield f"{name}={value}: is not installed; {suggest(value, names, 'installed')} Install it, or unset {name}."


def _prefixes(prefix: Path, environment: Mapping[str, str]) -> list[Path]:
    """Return the prefixes that may hold middlewares; ROS from wheels loads only those beside it."""
    if prefix == Path(sys.prefix):
        return [prefix]
    return [prefix, *(Path(part) for part in environment.get("AMENT_PREFIX_PATH", "").split(":") if part)]


def _version() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"
