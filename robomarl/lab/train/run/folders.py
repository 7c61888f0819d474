"""The run folders of a run, one a seed: made, opened again, and held by one process at a time."""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from robomarl.core.config import UserError
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.initial.start import of_seed
from robomarl.lab.train.run.ancestry import ancestors_of
from robomarl.lab.train.run.options import RunOptions
from robomarl.lab.train.run.run_folder import create_run, load_recipe_of
from robomarl.lab.train.run.storage import NEWEST


def hold(options: RunOptions, locks: ExitStack) -> None:
    """Take the run folders for this process; raises `UserError` where another one has them."""
    for folder in filter(Path.is_dir, options.folders.values()):
        locks.enter_context(held(folder))


def create_runs(config: TrainConfig, scenario: Scenario, options: RunOptions) -> None:
    """The run folder of every seed; see `create_run`."""
    for seed, folder in options.folders.items():
        sources = [of_seed(source, seed) for source in options.init]
        create_run(folder, config, scenario, seed, ancestors_of(sources, options.recordings, options.residual))


def reopen(options: RunOptions) -> tuple[TrainConfig, Scenario]:
    """Recipe and scenario of the run folders."""
    opened = {folder: load_recipe_of(folder) for folder in options.folders.values()}
    for folder, (_, _, about) in opened.items():
        if options.folders.get(about["seed"]) != folder:
            raise UserError(f"{folder} is of seed {about['seed']}; --resume needs the --seed and --seeds of its start.")
    config, scenario, _ = opened[next(iter(opened))]
    return config, scenario


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep all other processes from training in this run folder; the lock goes with the process, however
    that ends.

    Raises:
        UserError: another process is training there.
    """
    opened = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{folder}: another process is training there; wait for it, or stop it.") from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(opened)


@contextmanager
def begun_or_gone(folders: Iterable[Path]) -> Iterator[None]:
    """Remove new run folders without a checkpoint if the block fails or is stopped: none can be resumed."""
    try:
        yield
    except BaseException:
        for folder in folders:
            if not (folder / NEWEST).is_file():
                shutil.rmtree(folder, ignore_errors=True)
        raise
