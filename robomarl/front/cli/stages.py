"""Output of `robomarl train` as runs end; stages of a recipe, and the bundle that is made of the stages."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from robomarl.core.types import Figures

if TYPE_CHECKING:
    from robomarl.lab.train.run.options import RunOptions
    from robomarl.lab.train.stages.plan import StagedTraining


def train_in_stages(plan: "StagedTraining", options: "RunOptions") -> Figures:
    """Train the remaining stages, and make the bundle once all are there."""
    from robomarl.lab.sim.engines.compiler import keep_compiled
    from robomarl.lab.train.algorithm import may_share
    from robomarl.lab.train.stages.train import create_staged, scenario_of, train_stages

    out = options.out
    # Before a check of the plan compiles anything.
    keep_compiled(all(may_share(stage.config, scenario_of(plan, stage)) for stage in plan.stages))
    if not options.resume:
        plan = create_staged(out, plan, options)
    ends = []
    for end in train_stages(plan, options):
        for folder, row in zip(end.folders.values(), end.rows, strict=True):
            print_run(f"{end.title}, {folder}", row)
            write_report(folder)
        ends.append(end)
    is_whole = not ends or (ends[-1].is_whole and ends[-1].stage == plan.stages[-1])
    if not is_whole:
        where = "after" if ends[-1].is_whole else "in"
        print(f"{out}: stopped {where} {ends[-1].title}; `robomarl train --resume --out {out}` goes on.")
    bundles = export_all(plan, options) if is_whole and plan.bundle else {}
    about = {"run": str(out), "scenario": plan.stages[0].config.scenario, "seed": options.seed}
    runs = [{"run": str(f), **row} for end in ends for f, row in zip(end.folders.values(), end.rows, strict=True)]
    return {**about, **(ends[-1].rows[0] if ends else {}), "runs": runs, "bundles": bundles}


def print_run(name: str, row: Mapping[str, float]) -> None:
    """One line that says how far a run is."""
    print(
        f"{name}: {row.get('steps', 0) / 1e6:.1f} million agent-steps in {row.get('seconds', 0):.0f} s, "
        f"success {row.get('success', 0):.0%} of the last episodes in fast."
    )


def write_report(out: Path) -> None:
    """Fly a few episodes with the best policy, keep one flight, write the run's report page; of games there is none."""
    from robomarl.front.report.report import write_run_report
    from robomarl.lab.evaluate.evaluate import evaluate
    from robomarl.lab.evaluate.evaluation import HOVER_S, EvalConfig
    from robomarl.lab.simulation import simulation_of
    from robomarl.lab.train.run.best_policy import judged_behind
    from robomarl.lab.train.run.run_folder import RunPolicy, load_run
    from robomarl.lab.train.run.storage import json_text, replace_text

    run = load_run(out)
    simulation = simulation_of(run.scenario)
    if simulation.evaluation.score is None:
        return
    config = EvalConfig(episodes=4, filter=judged_behind(run), record=0, progress=False, hover_s=HOVER_S)
    found = evaluate(RunPolicy(run), run.scenario, config)
    replace_text(out / "evaluation.json", json_text(found.figures))
    if found.log is not None and simulation.save_log:
        (out / "flights").mkdir(exist_ok=True)
        simulation.save_log(out / "flights" / "mujoco.npz", found.log)
    write_run_report(out, out / "report.html")
    print(f"report: {out / 'report.html'}")


def export_all(plan: "StagedTraining", options: "RunOptions") -> dict[str, str]:
    """Make the bundle of every seed; the ids by folder."""
    from robomarl.lab.export import export_bundle
    from robomarl.lab.train.stages.plan import BUNDLE
    from robomarl.lab.train.stages.train import combined

    assert plan.bundle is not None
    found = {}
    for seed, folder in replace(options, out=options.out / BUNDLE).folders.items():
        folder.parent.mkdir(exist_ok=True)
        run = combined(plan.bundle, options, seed)
        found[str(folder)] = export_bundle(run, folder, Path(options.out).resolve().name, plan.bundle.team_size).id
        print(f"{folder}: id {found[str(folder)]}")
    return found
