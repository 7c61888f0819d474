"""Origin of a run: the commit of the source and the packages' versions."""

import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("robomarl", "jax", "brax", "flax", "optax", "mujoco", "numpy")


def commit_of_checkout() -> str:
    """Commit of the source, with `-dirty` when files differ; "unknown" outside a checkout."""
    where = Path(__file__).resolve().parent
    command = ["git", "-C", str(where), "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def versions() -> dict[str, str]:
    """Versions of the packages that decide a run's figures."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
