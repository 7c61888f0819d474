"""Training through the stages of a recipe, in one folder:

    recipe.json   the stages, whole, and the scenarios      STAGE/   the run folder of each
    bundle/       the bundle made of the stages, if the recipe asks for one

Stages run one after another, so the newest run folder shows where a stopped training goes on.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from robomarl.core.config import build, to_dict
from robomarl.lab.sim.scenario import Scenario, build_scenario, load_scenario
from robomarl.lab.train.initial.average_runs import averaged
from robomarl.lab.train.run.mixture import with_experts
from robomarl.lab.train.run.options import Rows, RunOptions
from robomarl.lab.train.run.run_folder import Run, load_run
from robomarl.lab.train.run.runner import NothingLeftError, train_run
from robomarl.lab.train.run.storage import check_new, create_folder, json_text, read_json
from robomarl.lab.train.stages.check import check_plan
from robomarl.lab.train.stages.plan import FILE, BundlePlan, Names, Stage, StagedTraining, listed
from robomarl.lab.train.stages.versions import renewed


@dataclass(frozen=True)
class StageEnd:
    """End of the training of a stage."""

    stage: Stage
    title: str
    """Which one of how many it is, and its name."""
    folders: dict[int, Path]
    """Run folder by seed."""
    rows: Rows
    """The last row of metrics of every seed; see `train_run`."""

    @property
    def is_whole(self) -> bool:
        """Return True if it has all of its agent-steps."""
        return self.rows[0]["finished"] == 1.0


def create_staged(out: Path, plan: StagedTraining, options: RunOptions) -> StagedTraining:
    """Make the folder of a training with stages, and return the plan as stored there.

    Its scenarios are stored whole, so that a later stage of a resumed training has those of its start;
    `options.init` is the start of the first stage.

    Raises:
        UserError: the folder exists or can't be made, a scenario is wrong, or a stage could not begin.
    """
    check_new(out)
    first, *rest = plan.stages
    stages = (replace(first, start=options.init or first.start), *rest)
    plan = replace(plan, stages=stages, seed=options.seed, seeds=options.seeds)
    check_plan(plan)
    names = {stage.config.scenario for stage in stages}
    scenarios = {name: to_dict(load_scenario(name)) for name in sorted(names)}
    plan = replace(plan, scenarios=scenarios)
    create_folder(out, {FILE: json_text(to_dict(plan)).encode()})
    return plan


def read_staged(out: Path) -> StagedTraining:
    """The plan that is kept in the folder; raises `UserError` where the file is damaged."""
    content, file = read_json(out / FILE), str(out / FILE)
    found = content.get("stages")
    for stage in found if isinstance(found, list) else ():
        if isinstance(stage, dict) and isinstance(config := stage.get("config"), dict):
            stage["config"] = renewed(config, {}, file)
    return build(StagedTraining, content, file)


def train_stages(plan: StagedTraining, options: RunOptions) -> Iterator[StageEnd]:
    """Train the rest of a plan; yield each stage as it ends, and none after one that was stopped.

    Args:
        plan: result of `create_staged` or `read_staged`.
        options: `out` is the folder of all stages; `minutes` are those of all stages; options of a
            single run are made for each.

    Raises:
        UserError: as `train_run`.
    """
    started, begun = time.monotonic(), [is_begun(stage, options) for stage in plan.stages]
    newest = max((i for i, is_there in enumerate(begun) if is_there), default=0)
    left_min = options.minutes
    for i, stage in enumerate(plan.stages[newest:], newest):
        title = f"stage {i + 1} of {len(plan.stages)}, {stage.name}"
        later = sum(other.config.last_step for other in plan.stages[i + 1 :])
        own = replace(options_of(plan, stage, options), minutes=left_min, resume=begun[i], label=title, later=later)
        scenario = scenario_of(plan, stage, str(options.out / FILE))
        try:
            rows = train_run(stage.config, scenario, own)
        except NothingLeftError:
            continue
        end = StageEnd(stage, title, own.folders, rows)
        yield end
        left_min = options.minutes - (time.monotonic() - started) / 60
        if not end.is_whole or rows[0]["interrupted"] or left_min <= 0:
            return


def scenario_of(plan: StagedTraining, stage: Stage, file: str = FILE) -> Scenario:
    """Return the scenario of a stage, as stored in the folder of all stages; before it is stored, from its
    present file.

    `file` names that folder's file in errors. Raises `UserError` if the scenario is wrong.
    """
    name = stage.config.scenario
    return build_scenario(plan.scenarios[name], file) if name in plan.scenarios else load_scenario(name)


def options_of(plan: StagedTraining, stage: Stage, options: RunOptions) -> RunOptions:
    """Return the options of a stage's run: its folder, and its start."""
    folders = {other.name: str(options.out / other.name) for other in plan.stages}
    init = tuple(folders.get(name, name) for name in stage.start)
    return replace(options, out=options.out / stage.name, init=init)


def is_begun(stage: Stage, options: RunOptions) -> bool:
    """Return True if every seed has a run folder of this stage."""
    own = replace(options, out=options.out / stage.name)
    return all((folder / "config.json").is_file() for folder in own.folders.values())


def combined(bundle: BundlePlan, options: RunOptions, seed: int) -> Run:
    """The run that a bundle is made of: means of stages, and experts beside them.

    Raises:
        UserError: actors that can't be in one bundle; see `averaged` and `with_experts`.
    """

    def actor(names: Names) -> Run:
        first, *others = (replace(options, out=options.out / name).folders[seed] for name in listed(names))
        return averaged(load_run(first), [str(folder) for folder in others])

    return with_experts(actor(bundle.actor), [actor(names) for names in bundle.experts])
