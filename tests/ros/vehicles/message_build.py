"""Builds the packages of `messages/` so that nodes exchange the real types over DDS, as they would on a robot.

`rosidl generate` itself fails with the wheels: two of them register each generator twice ("Found duplicate entry
point"). The generators are called one by one instead. One library for each package holds structs, type support for
Fast DDS and the conversion to Python. It is kept in the cache folder of pytest until a message or a tool changes.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from pathlib import Path

MESSAGES = Path(__file__).with_name("messages")
CACHE = Path(__file__).parents[3] / ".pytest_cache" / "messages"
NEEDED = ("builtin_interfaces", "std_msgs", "geometry_msgs", "service_msgs")
"""Packages of the wheels that the messages use."""
KINDS = ("generator_c", "generator_py", "typesupport_fastrtps_c", "typesupport_c")
SHARED = ("rosidl_runtime_c", "rosidl_typesupport_c", "rosidl_typesupport_fastrtps_c", "fastcdr", "rcutils")


class NoCompilerError(Exception):
    """There is none on this machine."""


def built() -> Path:
    """Folder of the packages, for the path of Python.

    Raises:
        NoCompilerError: they have to be built, and gcc or g++ is missing.
    """
    folder = CACHE / key()
    if folder.is_dir():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _build(folder)
    return folder


def key() -> str:
    """What the packages depend on, as one word."""
    found = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(path for kind in ("*.msg", "*.srv") for path in MESSAGES.rglob(kind)):
        found.update(f"{path.relative_to(MESSAGES)}\n{path.read_text()}".encode())
    for tool in ("ros-rosidl-generator-py", "ros-rosidl-typesupport-fastrtps-c", "numpy"):
        found.update(version(tool).encode())
    return f"{sysconfig.get_config_var('SOABI')}-{found.hexdigest()[:16]}"


def _build(folder: Path) -> None:
    for program in ("gcc", "g++"):
        if shutil.which(program) is None:
            raise NoCompilerError(f"{program} is not installed: the real message types can't be built")
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        out = Path(scratch, "made")
        for package in sorted(path.name for path in MESSAGES.iterdir() if path.is_dir()):
            # In a process of its own: the generators replace the standard output.
            _run([sys.executable, __file__, package, str(out / package)], AMENT_PREFIX_PATH=sys.prefix)
            _compile(package, out)
        out.rename(folder)


def _generate(package: str, out: Path) -> None:
    """C, Python and type support of one package."""
    from rosidl_adapter.msg import convert_msg_to_idl
    from rosidl_adapter.srv import convert_srv_to_idl
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_generator_type_description.cli import HashTypeDescription
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport

    source, idl = MESSAGES / package, []
    include = [str(Path(sys.prefix, "share", name)) for name in NEEDED] + [str(out)]
    for kind, convert in (("msg", convert_msg_to_idl), ("srv", convert_srv_to_idl)):
        for path in sorted(source.rglob(f"*.{kind}")):
            convert(source, package, path.relative_to(source), out / kind)
            idl.append(f"{out}:{kind}/{path.stem}.idl")
    hashes = HashTypeDescription("hash").generate_type_hashes(package, idl, include, out)
    GenerateC("c").generate(package, idl, include, out, hashes)
    GenerateFastRTPSCTypesupport("fastrtps_c").generate(package, idl, include, out)
    only = {"typesupport_implementations": ["rosidl_typesupport_fastrtps_c"]}
    GenerateCTypesupport("c", **only).generate(package, idl, include, out)
    python = {"typesupport_implementations": ["rosidl_typesupport_c"]}
    GeneratePython("py", **python).generate(package, idl, include, out)
    (out / "__init__.py").touch()


def _compile(package: str, out: Path) -> None:
    """One library beside the Python of a package."""
    import numpy

    wheels = Path(sys.prefix, "include")
    headers = [out, wheels, *wheels.iterdir(), Path(sysconfig.get_paths()["include"])]
    flags = ["-O0", "-w", "-fPIC", *(f"-I{path}" for path in [*headers, Path(numpy.get_include())])]
    folder = out / package
    objects = []
    # All C++ of a package in one go: most of the time goes into the headers.
    whole = folder / "whole.cpp"
    whole.write_text("".join(f'#include "{path}"\n' for path in sorted(folder.rglob("*.cpp")) if path != whole))
    for path in [whole, *sorted(folder.rglob("*.c"))]:
        made = path.with_name(path.name + ".o")
        compiler = ["g++", "-std=c++17"] if path.suffix == ".cpp" else ["gcc", "-std=gnu11"]
        _run([*compiler, *flags, "-c", str(path), "-o", str(made)])
        objects.append(str(made))
    library = folder / f"{package}_s__rosidl_typesupport_c{sysconfig.get_config_var('EXT_SUFFIX')}"
    libraries = [f"-l{name}__rosidl_{kind}" for name in NEEDED for kind in KINDS] + [f"-l{name}" for name in SHARED]
    _run(["g++", "-shared", "-o", str(library), *objects, f"-L{Path(sys.prefix, 'lib')}", *libraries])
    for left in [*objects, str(whole)]:
        Path(left).unlink()


def _run(command: list[str], **variables: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    assert done.returncode == 0, f"{command[0]} failed: {done.stderr[:2000]}"


if __name__ == "__main__":
    _generate(sys.argv[1], Path(sys.argv[2]))
