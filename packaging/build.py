"""Build an image with Docker: `python packaging/build.py workstation` or `robot`."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from robomarl import __version__
from robomarl.fleet.install.wheels import build

ROOT = Path(__file__).resolve().parents[1]
WHEELS = ROOT / "dist" / "robot"
IMAGES = {"workstation": ("Dockerfile", "robomarl", ""), "robot": ("Dockerfile.robot", "robomarl-robot", "linux/arm64")}
"""File, name and platform of each image; "" for the platform of this machine."""


def prepare_robot() -> None:
    """Put the wheel with the C kernel for aarch64 where the Dockerfile takes it from."""
    shutil.rmtree(WHEELS, ignore_errors=True)
    WHEELS.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as temporary:
        wheel = build(Path(temporary), "aarch64")
        print(shutil.copy(wheel, WHEELS))


def build_image(name: str) -> int:
    """Build one image, and return Docker's exit status."""
    file, image, platform = IMAGES[name]
    words = ["docker", "build", "--file", f"packaging/{file}", "--tag", f"{image}:{__version__}", "--tag", image]
    return subprocess.run([*words, *(["--platform", platform] if platform else []), "."], cwd=ROOT).returncode


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in (*IMAGES, "wheel"):
        sys.exit("usage: python packaging/build.py workstation|robot|wheel    (wheel: only that of the robot's image)")
    if sys.argv[1] != "workstation":
        prepare_robot()
    sys.exit(build_image(sys.argv[1]) if sys.argv[1] != "wheel" else 0)
