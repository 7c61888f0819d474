"""Compilation and test of the written files on this machine: parity with the bundle, and sizes."""

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from robomarl.core.config import UserError

FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")


@dataclass(frozen=True)
class ActorFigures:
    """Results of the golden test and of the compiler."""

    parity_max: float
    """Largest difference of an action element from the golden values, in its unit."""
    decision_us: float
    """Mean time of one decision on this machine."""
    flash_bytes: int
    """Program and weights: the sections text and rodata of the actor."""
    ram_bytes: int
    """Workspace: the sections data and bss; the memory that the caller holds is not in it."""
    stack_bytes: int | None
    """Frames of all functions of the actor together, those of the mathematical library left out; None where the
    compiler does not say it."""


def find_compiler() -> str | None:
    """The C compiler of this machine: `CC`, else cc or gcc."""
    return next((path for name in (os.environ.get("CC"), "gcc", "cc") if name and (path := shutil.which(name))), None)


def measure(folder: Path, name: str, compiler: str) -> ActorFigures:
    """Compile the files in a folder, run the golden test and read the sizes of the object file.

    Args:
        folder: folder that `export_c` wrote.
        name: prefix of the file names.
        compiler: path of a compiler that accepts the options of gcc.

    Raises:
        UserError: it does not compile, or the actor differs from the bundle.
    """
    with tempfile.TemporaryDirectory() as build:
        _run([compiler, *FLAGS, "-fstack-usage", "-c", str(folder / f"{name}.c"), "-o", f"{name}.o"], build)
        command = [compiler, *FLAGS, f"-I{folder}", str(folder / "main.c"), f"{name}.o", "-lm", "-o", "golden"]
        _run(command, build)
        said = dict(line.split() for line in _run([f"{build}/golden"], build).splitlines())
        flash, ram = _sizes(Path(build), name)
        usage = Path(build, f"{name}.su")
        frames = re.findall(r"\t(\d+)\t", usage.read_text()) if usage.exists() else []
        stack = sum(map(int, frames)) if frames else None
        return ActorFigures(float(said["largest_difference"]), float(said["decision_us"]), flash, ram, stack)


def _sizes(build: Path, name: str) -> tuple[int, int]:
    """Return the bytes of program with constants (text), and of data and bss, as `size` of the binutils counts them."""
    text, data, bss = map(int, _run(["size", f"{name}.o"], str(build)).splitlines()[1].split()[:3])
    return text, data + bss


def _run(command: list[str], folder: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        why = (done.stderr or done.stdout).strip().splitlines() or ["no reason"]
        raise UserError(f"{Path(command[0]).name} failed on the C actor ({why[0][:200]}); write it anew, or report it.")
    return done.stdout
