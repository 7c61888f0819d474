"""Make a bundle from a run: what is sealed, flashed and flown."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from robomarl.config import Count, Natural


@dataclass(frozen=True)
class Args:
    """Options of `robomarl export`."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder that `robomarl train --out` made; or a bundle, to which others are to be added."""
    dir: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[DIR]")] = None
    """Folder of the bundle; by default `policies/` and the run's name, below the working directory."""
    name: str = ""
    """Name of the bundle; by default the name of its folder."""
    team_size: tuple[Count, Count] | None = None
    """Least and largest team that the bundle may fly in; by default exactly the scenario's."""
    average: tuple[str, ...] = ()
    """Runs or bundles that the run went on from, or that went on from it: the bundle gets the mean of all weights."""
    expert: tuple[str, ...] = ()
    """Runs or bundles of the same kind of game on other fields: there their actors decide."""
    episodes: Natural = 0
    """Fly the bundle for so many episodes on `mujoco` behind the filter: figures for its card and `eval.json`."""


def run(args: Args) -> dict[str, Any]:
    """Export and say where the bundle is."""
    from robomarl.policies.export import export_bundle
    from robomarl.train.run.average_runs import averaged
    from robomarl.train.run.bundle_as_run import run_of
    from robomarl.train.run.mixture import with_experts

    source = averaged(run_of(str(args.run)), args.average)
    source = with_experts(source, [run_of(name) for name in args.expert])
    target = args.dir or Path("policies") / source.name
    finish = flown(args.name or target.name, args.episodes) if args.episodes else None
    bundle = export_bundle(source, target, args.name or target.name, args.team_size, finish)
    print(f"{target}: id {bundle.id}")
    return {"id": bundle.id, "dir": str(target), "name": bundle.contract.name}


def flown(name: str, episodes: int) -> Callable[[Path], None]:
    """What flies the bundle in a folder and adds the figures to it."""
    from robomarl.cli import eval as evaluation
    from robomarl.policies.export.figures import add_figures

    def fly(folder: Path) -> None:
        figures = evaluation.run(evaluation.Args((str(folder),), episodes=episodes))
        add_figures(folder, {**figures, "policy": name}, f"robomarl eval {name} --episodes {episodes}")

    return fly
