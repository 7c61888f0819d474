"""A 64-bit ARM Linux to run programs in: qemu's emulator, and Python with its C library from Debian's packages.

Nothing is installed: `apt-get` downloads into a folder, with a state of its own there, and `dpkg` unpacks.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

LIBRARIES = ("libc6", "libexpat1", "zlib1g", "libffi8", "libgcc-s1", "libstdc++6", "libssl3")
PYTHON = ("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", *LIBRARIES)
"""Of the Debian that this machine's apt knows; another Python there leaves the test out."""
SETTINGS = """
APT::Architecture "{machine}";
APT::Architectures {{ "{machine}"; }};
Dir::State "{folder}/state";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
"""


def interpreter(folder: Path) -> list[str]:
    """The words before the arguments of an aarch64 Python 3.11.

    Args:
        folder: where it is put.
    """
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        pytest.skip("there is no apt to get an aarch64 Python from")
    emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if emulator is None:
        emulator = str(unpacked(folder / "host", "amd64", ("qemu-user-static",)) / "usr/bin/qemu-aarch64-static")
    root = unpacked(folder / "arm64", "arm64", PYTHON)
    words = [emulator, "-L", str(root), str(root / "usr/bin/python3.11")]
    tried = subprocess.run([*words, "-c", "import platform; print(platform.machine())"], capture_output=True, text=True)
    if tried.stdout.strip() != "aarch64":
        pytest.skip(f"no aarch64 Python runs here: {tried.stderr[-200:]}")
    return words


def unpacked(folder: Path, machine: str, packages: tuple[str, ...]) -> Path:
    """Folder with the files of Debian packages."""
    for place in ("state/lists/partial", "cache/archives/partial", "files", "root"):
        (folder / place).mkdir(parents=True)
    (folder / "status").touch()
    (folder / "apt.conf").write_text(SETTINGS.format(machine=machine, folder=folder))
    environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf")}
    for words in (["update"], ["download", *packages]):
        command = ["apt-get", "--quiet", *words]
        done = subprocess.run(command, cwd=folder / "files", env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"apt-get {words[0]} for {machine} fails: {done.stderr[-200:]}")
    for file in sorted((folder / "files").glob("*.deb")):
        subprocess.run(["dpkg", "--extract", file, folder / "root"], check=True)
    return folder / "root"
