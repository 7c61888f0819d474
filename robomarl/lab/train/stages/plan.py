"""What a recipe with stages says: the runs, in order, and what the bundle is made of.

[[stage]]
name = "polish"                  # of its run folder
steps = 12_000_000               # agent-steps of this stage
start = ["aim_first", "aim"]     # stages, bundles or run folders, of several the mean; by default "previous"
extends = "aim"                  # stage whose keys it takes; by default the one before
noise.floor_std = 0.04           # all other keys are a recipe's own: what is other in this stage

[[stage]]
recipe = "soccer_3v3"            # the stages of another recipe follow; the first of them has this `start`
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robomarl.core.config import Count, UsageError
from robomarl.lab.train.config import TrainConfig

PREVIOUS, BUNDLE, FILE = "previous", "bundle", "recipe.json"
"""Where a stage starts by default; the bundle, beside the folders of the stages; the plan, there too."""
Names = str | tuple[str, ...]


@dataclass(frozen=True)
class StageTable:
    """Keys of a `[[stage]]` that are not those of `TrainConfig`."""

    name: str
    """Of its run folder: letters, digits and underscores."""
    steps: Count
    """Agent-steps of this stage. Its schedules end here too, unless it says a `total_steps`."""
    start: Names = PREVIOUS
    """Stages before it, bundles or run folders whose weights it starts from, of several the mean; "": nothing."""
    extends: str = PREVIOUS
    """The stage of the same file whose keys it takes; the first one takes those at the top of the file."""


@dataclass(frozen=True)
class BundlePlan:
    """`[bundle]` of a recipe with stages: what is exported after the last one."""

    actor: Names
    """The stage whose actor decides; of several the mean, with the recipe of the first."""
    experts: tuple[Names, ...] = ()
    """Stages whose actors decide on the fields where they were trained."""
    team_size: tuple[Count, Count] | None = None
    """Least and largest team; by default exactly that of the scenario."""


@dataclass(frozen=True)
class Stage:
    """One part of a training: a run in a folder of its own."""

    name: str
    config: TrainConfig
    start: tuple[str, ...] = ()
    """What it starts from; none: from nothing."""


@dataclass(frozen=True)
class StagedTraining:
    """A training of several stages, as it is kept in its folder."""

    stages: tuple[Stage, ...]
    seed: int = 0
    seeds: int = 1
    bundle: BundlePlan | None = None
    scenarios: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Content of the scenario of every stage, by what its recipe calls it."""

    def stage(self, name: str) -> Stage:
        """The stage of that name; raises `UsageError` if there is none."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise UsageError(f"--stage {name}: no such stage; allowed: {', '.join(s.name for s in self.stages)}.")


def listed(names: Names) -> tuple[str, ...]:
    """One name or several, as several; an empty one is none."""
    return ((names,) if names else ()) if isinstance(names, str) else names


def is_staged(folder: Path) -> bool:
    """Whether the folder is of a training with stages."""
    return (folder / FILE).is_file()
