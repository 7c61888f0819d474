"""The wheels that robots are set up from: robomarl's own, one for each processor, with the safety filter's C kernel.

A robot needs no compiler: the one that comes with `ziglang` (the extra `wheels`) makes the kernel here, for its
processor and for any Linux with glibc. Without it robomarl's wheel has no kernel, and the filter runs in Python.

    python -m robomarl.fleet.install.wheels FOLDER     the wheels of a release, one for each processor
"""

import os
import shlex
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

from robomarl.core.config import UserError
from robomarl.core.paths import share_dir
from robomarl.fleet.install.onboard_wheel import onboard

PROCESSORS = ("x86_64", "aarch64")
"""Processors by their `platform.machine()` names: those for which onnxruntime has wheels, too."""
GLIBC, TAG = "2.17", "manylinux2014"
"""Oldest C library that the kernel runs with, and the name that wheels have for that."""
LOCK = Path(__file__).with_name("onboard.txt")
"""Packages that a robot installs, with version and hash; the first lines of the file tell how it is made."""
SETTINGS = """
[build]
build_base = {folder}/build
[egg_info]
egg_base = {folder}
[bdist_wheel]
plat_name = {tag}_{machine}
py_limited_api = cp311
"""


class Shelf:
    """Wheels for robots, by processor; robomarl's own is built once, with the floors that robots run."""

    def __init__(self, given: Path | None, temporary: Path) -> None:
        """Nothing is built yet.

        Args:
            given: folder with wheels of everything, for robots without a package index; None: only robomarl's own.
            temporary: folder to build in.
        """
        self.given = given
        self._files = sorted(given.glob("*.whl")) if given is not None else []
        self._temporary = temporary
        self._own: dict[str, Path] = {}
        self._lock = Lock()

    def files(self, machine: str) -> list[Path]:
        """Return the wheels to send to a robot, robomarl's wheel last.

        Args:
            machine: the robot's processor; one that is not in `PROCESSORS` gets a wheel without the kernel.

        Raises:
            UserError: robomarl's wheel can't be built, or the folder has several.
        """
        fitting = [file for file in self._files if fits(file.name, machine)]
        # `make build` puts a wheel with simulated autopilots beside robomarl's own, for workstations.
        others = [file for file in fitting if not file.name.startswith(("robomarl-", "robomarl_"))]
        with self._lock:
            if machine not in self._own:
                name = machine if machine in PROCESSORS else "any"
                self._own[machine] = choose(fitting) or onboard(build(self._temporary / name, machine))
        return [*others, self._own[machine]]


def fits(name: str, machine: str) -> bool:
    """Return True if a wheel of this file name is for a processor, or for all."""
    platforms = name.removesuffix(".whl").rsplit("-", 1)[-1].split(".")
    return any(platform == "any" or platform.endswith(f"_{machine}") for platform in platforms)


def choose(files: list[Path]) -> Path | None:
    """Robomarl's wheel among those that fit a robot: one for its processor before one for all; None if there is none.

    Raises:
        UserError: there are several, and nothing says which one is meant.
    """
    own = [file for file in files if file.name.startswith("robomarl-")]
    best = [file for file in own if not file.name.endswith("-any.whl")] or own
    if len(best) > 1:
        names = ", ".join(file.name for file in best)
        raise UserError(f"{best[0].parent}: has several wheels of robomarl ({names}); leave one for each processor.")
    return best[0] if best else None


def build(folder: Path, machine: str = "") -> Path:
    """Build robomarl's wheel: with the kernel where that can be, else for any processor.

    Args:
        folder: where it goes, made if it is missing.
        machine: processor.

    Raises:
        UserError: this is no checkout, or pip failed.
    """
    if machine in PROCESSORS and (compiler := zig()):
        wheel = _pip_wheel(folder, machine, cross_compiling(compiler, machine))
        if has_kernel(wheel):
            return wheel
        wheel.unlink()
    return _pip_wheel(folder, "", {"ROBOMARL_PURE": "1"})


def why_in_python(machine: str) -> str:
    """Why a wheel of `build` has no kernel, and the mend."""
    if machine not in PROCESSORS:
        return f"there is none for its processor, only for {' and '.join(PROCESSORS)}."
    if not zig():
        return "install robomarl's extra `wheels` here (pip install ziglang) and run `robomarl fleet setup` again."
    return "name a wheel that has it, or see that `python -m robomarl.fleet.install.wheels FOLDER` succeeds here."


def zig() -> Path | None:
    """The compiler that makes binaries for every processor; None where `ziglang` is not installed."""
    spec = find_spec("ziglang")
    return Path(spec.origin).with_name("zig") if spec and spec.origin else None


def cross_compiling(compiler: Path, machine: str) -> dict[str, str]:
    """The variables that make setuptools compile for a processor; -s leaves out names of folders, too."""
    command = f"{shlex.quote(str(compiler))} cc -target {machine}-linux-gnu.{GLIBC}"
    return {"CC": command, "LDSHARED": f"{command} -shared -s", "_PYTHON_HOST_PLATFORM": f"linux-{machine}"}


def has_kernel(wheel: Path) -> bool:
    """Return True if a wheel contains the compiled kernel: building it is optional, and may have failed."""
    with zipfile.ZipFile(wheel) as archive:
        return any(name.startswith("robomarl/core/filter/kernel/_kernel.") for name in archive.namelist())


def _pip_wheel(folder: Path, machine: str, variables: dict[str, str]) -> Path:
    """Let pip build; nothing is left in the checkout, and nothing that lies there of other builds gets in."""
    source = share_dir()
    if not (source / "setup.py").is_file():
        raise UserError("robomarl was installed without its source; put its wheel into a folder and name it: --wheels.")
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "build.cfg"
    text = SETTINGS if machine else SETTINGS.partition("[bdist_wheel]")[0]
    settings.write_text(text.format(folder=folder.absolute(), tag=TAG, machine=machine))
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(source)]
    environment = {**os.environ, **variables, "DIST_EXTRA_CONFIG": str(settings.absolute())}
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", *options], capture_output=True, env=environment)
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        said = [line.strip() for line in lines if "error:" in line] or lines
        raise UserError(f"{source}: the wheel can't be built ({''.join(said[:1])}); run `make setup`.")
    return next(folder.glob(f"robomarl-*{machine or 'any'}.whl"))


def release(folder: Path) -> None:
    """Build the wheels of all processors, and none without the kernel.

    Raises:
        UserError: the kernel can't be built.
    """
    from tempfile import TemporaryDirectory

    for machine in PROCESSORS:
        with TemporaryDirectory() as temporary:
            wheel = build(Path(temporary), machine)
            if not has_kernel(wheel):
                raise UserError(f"The C kernel can't be built for {machine}; it needs `make setup`, and Python.h.")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / wheel.name).write_bytes(wheel.read_bytes())


if __name__ == "__main__":
    try:
        release(Path(sys.argv[1]))
    except UserError as error:
        sys.exit(str(error))
