"""A recipe with stages: the runs, in order, and the composition of the bundle.

[[stage]]
name = "polish"                  # of its run folder
steps = 12_000_000               # agent-steps of this stage
start = ["aim_first", "aim"]     # stages, bundles or run folders, of several the mean; by default "previous"
extends = "aim"                  # stage that provides its keys; by default the one before
noise.floor_std = 0.04           # all other keys are a recipe's own: the changes in this stage

[[stage]]
recipe = "soccer_3v3"            # the stages of another recipe follow; the first one has this `start`
"""

from dataclasses import dataclass, field
from pathlib import Path

from robomarl.core.config import Count, UsageError
from robomarl.lab.train.config import TrainConfig

PREVIOUS, BUNDLE, FILE = "previous", "bundle", "recipe.json"
"""Default start of a stage; the bundle, beside the folders of the stages; the file of the plan, there too."""
Names = str | tuple[str, ...]


@dataclass(frozen=True)
class StageTable:
    """Keys of a `[[stage]]` that are not those of `TrainConfig`."""

    name: str
    """Name of its run folder: letters, digits and underscores."""
    steps: Count
    """Agent-steps of this stage. Its schedules end here too, unless it says a `total_steps`."""
    start: Names = PREVIOUS
    """Earlier stages, bundles or run folders with the weights of its start, of several the mean; "": nothing."""
    extends: str = PREVIOUS
    """Stage of this file that provides its keys; the first stage takes those at the top of the file."""


@dataclass(frozen=True)
class BundlePlan:
    """`[bundle]` of a recipe with stages: content of the bundle that is exported after the last stage."""

    actor: Names
    """Stage with the actor that decides; of several stages the mean, with the recipe of the first."""
    experts: tuple[Names, ...] = ()
    """Stages with actors that decide on the fields where they were trained."""
    team_size: tuple[Count, Count] | None = None
    """Least and largest team; by default exactly that of the scenario."""


@dataclass(frozen=True)
class Stage:
    """One part of a training: a run in a folder of its own."""

    name: str
    config: TrainConfig
    start: tuple[str, ...] = ()
    """Sources of its start weights; none: it starts from nothing."""


@dataclass(frozen=True)
class StagedTraining:
    """A training of several stages, as stored in its folder."""

    stages: tuple[Stage, ...]
    seed: int = 0
    seeds: int = 1
    bundle: BundlePlan | None = None
    scenarios: dict[str, dict[str, object]] = field(default_factory=dict)
    """Content of the scenario of every stage, by its name in the recipe."""

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
    """Return True if the folder is of a training with stages."""
    return (folder / FILE).is_file()
