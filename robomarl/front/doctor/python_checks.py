"""Checks of Python, robomarl itself, its extras and the C kernel."""

import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, version
from importlib.util import find_spec
from pathlib import Path

from robomarl.front.cli.failures import EXTRAS
from robomarl.front.doctor.finding import Finding, lacking

OLDEST = (3, 11)
"""Oldest Python that robomarl runs on; also in setup.py."""
NEEDED_EXTRAS = ("train", "ros")
"""Extras that train, eval and `up --sim` need."""
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[(.*?)\])?[^;]*(?:;(.*))?")
_EXTRA = re.compile(r"extra == ['\"]([^'\"]+)['\"]")


def python_version() -> Iterator[Finding]:
    """Yield the row of the interpreter."""
    good = sys.version_info >= OLDEST
    fix = "" if good else f"Install Python {OLDEST[0]}.{OLDEST[1]} or newer, and make a virtual environment with it."
    yield Finding("Python", "ok" if good else "missing", f"{platform.python_version()}, {sys.executable}", fix)


def robomarl_itself() -> Iterator[Finding]:
    """Yield the rows of the package: its version and folder, and the packages that all of it needs."""
    import robomarl

    folder = Path(robomarl.__file__).parent
    named = requirements().get("")
    if named is None:
        found = f"{robomarl.__version__} in {folder}, not installed: entry points of other packages are not found"
        yield Finding("robomarl", "note", found, f"pip install -e {folder.parent}")
        return
    yield Finding("robomarl", "ok", f"{robomarl.__version__}, {folder}")
    absent = [name for name in named if not is_installed(name)]
    found = f"missing: {', '.join(absent)}" if absent else f"all {len(named)} that every part needs"
    yield Finding("packages", "missing" if absent else "ok", found, f"pip install {' '.join(absent)}" if absent else "")


def extras() -> Iterator[Finding]:
    """Yield a row for each extra of pyproject.toml."""
    declared = requirements()
    for extra in sorted(set(EXTRAS) | set(declared) - {""}, key=lambda name: (name not in NEEDED_EXTRAS, name)):
        absent = absent_of(extra, declared)
        state = lacking(extra in NEEDED_EXTRAS) if absent else "ok"
        found = f"not installed: {', '.join(absent)}" if absent else "installed"
        yield Finding(f"extra {extra}", state, found, f"pip install 'robomarl[{extra}]'" if absent else "")


def absent_of(extra: str, declared: dict[str, list[str]]) -> list[str]:
    """Return what an extra lacks: modules if we know them, for a ROS distribution has no wheels; else packages."""
    if extra in EXTRAS:
        return [name for name in EXTRAS[extra] if find_spec(name) is None]
    return [name for name in declared[extra] if not is_installed(name)]


def requirements(package: str = "robomarl") -> dict[str, list[str]]:
    """Return the names of required packages by extra, "" for those without one; {} if the package is not installed.

    Extras of a required package stand for what they require: `jax[cuda12]` for jax and its plugins.
    """
    try:
        lines = metadata(package).get_all("Requires-Dist") or []
    except PackageNotFoundError:
        return {}
    found: dict[str, list[str]] = {}
    for name, wanted, marker in (match.groups() for line in lines if (match := _REQUIREMENT.match(line))):
        extra = _EXTRA.search(marker or "")
        names = found.setdefault(extra[1] if extra else "", [])
        names.append(name)
        for inner in wanted.split(",") if wanted and name != package else ():
            names += requirements(name).get(inner.strip(), [])
    return found


def is_installed(package: str) -> bool:
    """Return True if pip knows the package."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def filter_kernel() -> Iterator[Finding]:
    """Yield the row of the filter's C kernel; without it the filter runs in Python, about ten times slower."""
    from robomarl.core.config import UserError
    from robomarl.core.filter import kernel

    try:
        kernel.load()
    except UserError as error:
        fix = "Install a C compiler and cffi, then: pip install --force-reinstall --no-deps robomarl"
        yield Finding("C kernel", "note", f"{str(error).partition(';')[0]}: the filter runs in Python, slower", fix)
    else:
        yield Finding("C kernel", "ok", "loads; the safety filter runs in C")
