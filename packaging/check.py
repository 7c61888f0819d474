"""Run the steps of a Dockerfile in copies of a root file system, where Docker is not at hand; see README.md here."""

import argparse
import io
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from dockerfile_parse import DockerfileParser

ROOT = Path(__file__).resolve().parents[1]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MOUNTED = "ROBOMARL_CHECK_MOUNTED"
"""Set in the process that has a mount namespace of its own."""


@dataclass
class Stage:
    """One stage of the build: a root file system and the settings so far."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": PATH, "HOME": "/root"})
    user: str = ""
    folder: str = "/"

    def run(self, command: str, more: dict[str, str]) -> None:
        """Run a shell command in it; raises `CalledProcessError` if it fails."""
        as_user = [f"--userspec={self.user}"] if self.user else []
        words = [
            shutil.which("chroot") or "chroot",
            *as_user,
            str(self.root),
            "/bin/sh",
            "-c",
            f"cd {self.folder} && {command}",
        ]
        subprocess.run(words, env={**more, **self.environment}, check=True)


class Checker:
    """The steps of one Dockerfile."""

    def __init__(self, base: Path, work: Path, lent: list[Path], arguments: dict[str, str]) -> None:
        """Take copies of `base` below `work`; `lent` files of this machine are bound into each."""
        self._base, self._work, self._lent, self._given = base, work, lent, arguments
        self.stages: dict[str, Stage] = {}
        self.stage: Stage | None = None
        self._arguments: dict[str, str] = {}

    def step(self, instruction: str, value: str) -> None:
        """Do one instruction; those that only describe the image do nothing here."""
        act = getattr(self, f"_{instruction.lower()}", None)
        if act is not None:
            act(value)

    def _from(self, value: str) -> None:
        name = value.lower().partition(" as ")[2] or str(len(self.stages))
        self.stage = self.stages[name] = Stage(self._work / name)
        subprocess.run(["cp", "-a", "--reflink=auto", str(self._base), str(self.stage.root)], check=True)
        make_devices(self.stage.root)
        for path in self._lent:
            bind(path, self.stage.root / path.relative_to("/"))

    def _arg(self, value: str) -> None:
        name, _, default = value.partition("=")
        self._arguments[name] = self._given.get(name, default.strip('"'))

    def _env(self, value: str) -> None:
        name, _, text = value.partition("=")
        self._now.environment[name] = text

    def _run(self, value: str) -> None:
        passed = {name: text for name, text in os.environ.items() if name.startswith(("PIP_", "SSL_CERT"))}
        self._now.run(value, {**passed, "DEBIAN_FRONTEND": "noninteractive", **self._arguments})

    def _workdir(self, value: str) -> None:
        (self._now.root / value.lstrip("/")).mkdir(parents=True, exist_ok=True)
        self._now.folder = value

    def _user(self, value: str) -> None:
        self._now.user = value

    def _copy(self, value: str) -> None:
        *sources, target = value.split()
        place, origin = self._now.root / target.lstrip("/"), ROOT
        if sources[0].startswith("--from="):
            origin = self.stages[sources.pop(0).removeprefix("--from=")].root
            place.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", str(origin / sources[0].lstrip("/")), str(place)], check=True)
            return
        for name in context():
            for source in sources:
                copy_file(name, source.rstrip("/"), place, many=target.endswith("/"))

    @property
    def _now(self) -> Stage:
        assert self.stage is not None, "FROM comes first"
        return self.stage


def context() -> list[str]:
    """Return the files that Docker would be sent: those of a commit, as .dockerignore says, and dist/robot."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    kept = [line[1:].rstrip("/") for line in lines if line.startswith("!")]
    files = [*filter(None, listed.split("\0")), *(f"dist/robot/{path.name}" for path in ROOT.glob("dist/robot/*"))]
    chosen = [name for name in files if any(name == part or name.startswith(f"{part}/") for part in kept)]
    return [name for name in chosen if (ROOT / name).is_file()]  # a file may be gone that is in the last commit


def copy_file(name: str, source: str, place: Path, many: bool) -> None:
    """Copy a file of the context if a source of COPY is it, or a folder that it is in."""
    if source == "." or name.startswith(f"{source}/"):
        target = place / (name if source == "." else name.removeprefix(f"{source}/"))
    elif name == source:
        target = place / Path(name).name if many else place
    else:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(ROOT / name, target)


def make_devices(root: Path) -> None:
    """Make the few devices that programs need, and mount /proc; the machine's own /dev stays out of reach."""
    for name, minor in {"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}.items():
        (root / "dev" / name).unlink(missing_ok=True)
        os.mknod(root / "dev" / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        (root / "dev" / name).chmod(0o666)
    (root / "dev/shm").mkdir(exist_ok=True)
    (root / "dev/shm").chmod(0o1777)
    subprocess.run(["mount", "-t", "proc", "proc", str(root / "proc")], check=True)


def bind(path: Path, target: Path) -> None:
    """Bind a file or folder of this machine into a root, to be read only."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        target.mkdir(exist_ok=True)
    elif not target.exists():
        with suppress(FileNotFoundError):
            target.unlink()
        target.touch()
    subprocess.run(["mount", "--bind", str(path), str(target)], check=True)
    subprocess.run(["mount", "-o", "remount,ro,bind", str(target)], check=True)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dockerfile", type=Path)
    parser.add_argument("root", type=Path, help="root file system that stands for the base image")
    parser.add_argument("--lend", type=Path, action="append", default=[], help="path of this machine to bind")
    parser.add_argument("--arg", action="append", default=[], metavar="NAME=VALUE", help="build argument")
    parser.add_argument("--run", action="append", default=[], help="command to run in the last stage, as its user")
    parser.add_argument("--work", type=Path, help="folder for the copies; by default a temporary one")
    return parser.parse_args()


def check(args: argparse.Namespace, work: Path) -> None:
    """Do all steps, and the commands after them."""
    parser = DockerfileParser(fileobj=io.BytesIO(args.dockerfile.read_bytes()), env_replace=False)
    checker = Checker(args.root, work, args.lend, dict(text.split("=", 1) for text in args.arg))
    steps = [(row["instruction"], row["value"]) for row in parser.structure if row["instruction"] != "COMMENT"]
    for instruction, value in [*steps, *(("RUN", command) for command in args.run)]:
        print(f"==> {instruction} {' '.join(value.split())[:100]}", flush=True)
        began_s = time.monotonic()
        checker.step(instruction, value)
        print(f"    {time.monotonic() - began_s:.1f} s", flush=True)
    last = checker.stage
    assert last is not None
    size = subprocess.run(["du", "-smx", str(last.root)], capture_output=True, text=True).stdout.split()[0]
    print(f"All steps of {args.dockerfile} succeed; the last stage has {size} MB with its base.")


def main() -> None:
    """Enter a mount namespace, so that nothing stays mounted, and check there."""
    if MOUNTED not in os.environ:
        words = ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv]
        sys.exit(subprocess.run(words, env={**os.environ, MOUNTED: "1"}).returncode)
    args = options()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        work = args.work or Path(temporary)
        try:
            check(args, work)
        except subprocess.CalledProcessError as error:
            sys.exit(f"This step fails with status {error.returncode}.")
        finally:
            for line in reversed(Path("/proc/mounts").read_text().splitlines()):
                if line.split()[1].startswith(str(work.resolve())):
                    subprocess.run(["umount", "--lazy", line.split()[1]])


if __name__ == "__main__":
    main()
