"""Make a bundle from a run, to be sealed, flashed and flown; or, from a bundle, the actor in C."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from robomarl.core.config import Count, Natural, Positive, Seed, UsageError, UserError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder, check_folder


@dataclass(frozen=True)
class Args:
    """Options of `robomarl export`."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder that `robomarl train --out` made; or a bundle, to which others are to be added."""
    dir: Annotated[OutFolder | None, tyro.conf.Positional, tyro.conf.arg(metavar="[DIR]")] = None
    """Folder of the bundle; by default `policies/` and the run's name, below the working directory."""
    target: Literal["bundle", "c"] = "bundle"
    """Output: a bundle; or, for the bundle that RUN names, its actor as C99 without dependencies."""
    name: str = ""
    """Name of the bundle; by default the name of its folder."""
    team_size: tuple[Count, Count] | None = None
    """Least and largest team that the bundle may fly in; by default that of the bundle, or exactly the scenario's."""
    average: tuple[str, ...] = ()
    """Runs or bundles that the run went on from, or that went on from it: the bundle gets the mean of all weights."""
    expert: tuple[str, ...] = ()
    """Runs or bundles of this kind of game on other fields: there their actors decide."""
    perception: Path | None = None
    """ONNX network that reads strips of a camera's pictures; the bundle that RUN names then sees with it."""
    pose_error_m: Positive = 0.1
    """With --perception: largest error of a robot's own place with which it moves; the filter keeps that distance."""
    episodes: Natural = 0
    """Number of episodes to fly with the bundle on `mujoco` behind the filter: figures for its card and `eval.json`."""
    scenario: str | None = None
    """Scenario of these episodes; by default the one that it was trained in."""
    seed: Seed = 0
    """Seed of these episodes."""


def run(args: Args) -> Figures:
    """Export and say where the bundle is."""
    if args.target == "c":
        return run_c(args)
    if args.perception:
        return run_seeing(args, args.perception)
    from robomarl.lab.export import export_bundle
    from robomarl.lab.train.initial.average_runs import averaged
    from robomarl.lab.train.run.bundle_as_run import run_of, teams_of
    from robomarl.lab.train.run.mixture import with_experts

    source = averaged(run_of(str(args.run)), args.average)
    source = with_experts(source, [run_of(name) for name in args.expert])
    target = args.dir or Path("policies") / source.name
    check_folder("DIR", target)
    finish = flown(args.name or target.name, args) if args.episodes else None
    teams = args.team_size or teams_of(str(args.run))
    bundle = export_bundle(source, target, args.name or target.name, teams, finish)
    print(f"{target}: id {bundle.id}")
    return {"id": bundle.id, "dir": str(target), "name": bundle.contract.name}


def run_seeing(args: Args, network: Path) -> Figures:
    """Seal a network that reads pictures into a bundle, and say where the bundle is.

    Raises:
        UserError: an option of other exports, RUN is no bundle, or the errors of `seal_perception`.
    """
    from robomarl.core.bundle.bundle import load_bundle
    from robomarl.lab.export.seeing import Eyes, camera_of, pictures_of, seal_perception

    if args != Args(args.run, args.dir, name=args.name, perception=network, pose_error_m=args.pose_error_m):
        raise UsageError("--perception goes with --name and --pose-error-m only; give the other options before.")
    if args.dir is None:
        raise UsageError("--perception needs DIR, the folder of the bundle that sees; name it behind RUN.")
    bundle = load_bundle(args.run)
    check_folder("DIR", args.dir)
    eyes = Eyes(_content(network), camera_of(bundle.contract.vehicle.name), args.pose_error_m)
    made = seal_perception(bundle, eyes, pictures_of(bundle), args.dir, args.name)
    print(f"{args.dir}: id {made.id}")
    return {"id": made.id, "dir": str(args.dir), "name": made.contract.name}


def _content(file: Path) -> bytes:
    """The bytes of a file; raises `UserError` where it can't be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: can't be read ({error.strerror}); name an ONNX file with --perception.") from None


def run_c(args: Args) -> Figures:
    """Write the C actor of a bundle, and print how large and how fast it is here.

    Raises:
        UserError: an option that is of bundles only, or the errors of `export_c`.
    """
    from robomarl.core.bundle.bundle import load_bundle
    from robomarl.lab.export_c import export_c

    if args != Args(args.run, args.dir, "c"):
        raise UsageError("--target c takes a BUNDLE and a DIR only; give the other options when you make the bundle.")
    target = args.dir or Path(f"{args.run.name}_c")
    check_folder("DIR", target)
    made = export_c(str(args.run), target)
    print(f"{target}: {', '.join(file.name for file in made.files)} of {made.id}")
    if load_bundle(args.run).contract.image is not None:
        print("  the actor alone: perception.onnx and the tracker are not in C, and it does not see without them")
    if (m := made.measured) is None:
        print("  no C compiler here: compile main.c and the actor, and run them, before you fly it")
        return {"id": made.id, "dir": str(target), "name": made.name}
    print(f"  differs from training by {m.parity_max:.2g} at most; {m.decision_us:.3g} us a decision here")
    stack = "not known" if m.stack_bytes is None else f"{m.stack_bytes} B"
    print(f"  program and weights {m.flash_bytes} B, workspace {m.ram_bytes} B, stack {stack}")
    return {"id": made.id, "dir": str(target), "name": made.name, **asdict(m)}


def flown(name: str, args: Args) -> Callable[[Path], None]:
    """Return the function that flies the bundle in a folder, as the options say, and adds the figures to it."""
    from robomarl.front.cli import eval as evaluation
    from robomarl.lab.export.figures import add_figures

    def fly(folder: Path) -> None:
        how = evaluation.Args((str(folder),), scenario=args.scenario, episodes=args.episodes, seed=args.seed)
        add_figures(folder, {**evaluation.run(how), "policy": name}, flown_command(name, args))

    return fly


def flown_command(name: str, args: Args) -> str:
    """Return the command that flies these episodes again."""
    where = f" --scenario {args.scenario}" if args.scenario else ""
    return f"robomarl eval {name}{where} --episodes {args.episodes}{f' --seed {args.seed}' if args.seed else ''}"
