"""`RunOptions`: how a run is carried out."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from robomarl.core.bundle.provenance import UsedResidual
from robomarl.lab.train.boards import BoardName
from robomarl.lab.train.initial.kept import KeptPrograms
from robomarl.lab.train.state import TrainState

Rows = list[dict[str, float]]
"""Metrics by name, of each seed."""


@dataclass(frozen=True)
class RunOptions:
    """How a run is carried out."""

    out: Path
    """The run folder; with several seeds, the folder of their run folders."""
    seed: int = 0
    seeds: int = 1
    """Runs side by side, with this and the following seeds."""
    devices: int = 1
    """Devices that the environments are divided over; a resumed run may have other ones."""
    minutes: float = math.inf
    """Stop after this wall-clock time; by default at the recipe's `total_steps`."""
    steps: int | None = None
    """Agent-steps in all, instead of the recipe's; a resumed run goes on to here."""
    resume: bool = False
    """Go on from the checkpoints in `out`, with the recipe and scenario that are there."""
    init: tuple[str, ...] = ()
    """Run folders or bundles with the weights from which the run starts, of several their mean; with folders of
    several seeds, each seed takes its own.
    """
    recordings: tuple[str, ...] = ()
    """Names and hashes of the recordings that the run adapts its start to."""
    residual: UsedResidual | None = None
    """That these recordings showed, and that the scenario has."""
    log: tuple[BoardName, ...] = ()
    """Boards that show the metrics, beside TensorBoard."""
    quiet: bool = False
    """No progress bar."""
    label: str = ""
    """Name of the run on the progress bar."""
    later: int = 0
    """Agent-steps of the stages after this run, which the time left on the progress bar counts, too."""
    waits: Callable[[str], AbstractContextManager[object]] = nullcontext
    """Entered with the name of what is waited for while the compiler or an evaluation holds the run up."""
    save_every_s: float = 20.0
    """Time between two checkpoints."""
    evaluations: int = 8
    """Evaluations on `mujoco`, spread over the run; the best policy is kept as best.npz."""
    eval_episodes: int = 32
    """Episodes of each."""
    kept: KeptPrograms = field(default_factory=KeptPrograms)
    """Programs of an earlier run of this process."""
    on_update: Callable[[TrainState, Rows], None] | None = None
    """Called after every update, with the states and the rows of metrics."""

    @property
    def folders(self) -> dict[int, Path]:
        """Run folder by seed."""
        if self.seeds == 1:
            return {self.seed: self.out}
        return {seed: self.out / f"seed_{seed}" for seed in range(self.seed, self.seed + self.seeds)}
