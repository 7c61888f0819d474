"""Fly episodes with runs, bundles or the scripted `baseline`, and count successes, collisions and errors."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from robomarl.core.config import Count, Seed, UsageError, UserError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFile, PlotFile
from robomarl.front.cli.sharing import LOCAL, shared

if TYPE_CHECKING:
    from robomarl.lab.evaluate.evaluation import EvalConfig, EvalRow, FlownPolicy
    from robomarl.lab.sim.batch import World
    from robomarl.lab.sim.scenario import Scenario
    from robomarl.lab.simulation import Evaluated, Simulation


@dataclass(frozen=True)
class Args:
    """Options of `robomarl eval`."""

    policies: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="POLICY ...")]
    """Bundles by name or folder, run folders, or `baseline`."""
    sim: Literal["fast", "mujoco", "mjx"] = "mujoco"
    """Engine."""
    scenario: str | None = None
    """Name or file; by default the one that the policy was trained for. Another team size is fine."""
    episodes: Count = 200
    """Episodes of each policy."""
    seed: Seed = 0
    """Starts, weather and noise."""
    filter: Literal["full", "qp", "certificate", "textbook", "upright", "off"] = "full"
    """Safety filter between policy and robot; upright: off until a vehicle that was thrown is upright."""
    perturb: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """NAME=VALUE pins a randomized parameter, as in mass_scale=1.1, NAME a variation that the scenario holds out;
    may be given several times."""
    estimator: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """State estimator whose bounds in the vehicle file the safety filter assumes (firmware, mocap, or assumed for the
    bounds of its section safety), in place of the scenario's; may be given several times, for a row of each.
    """
    held_out: bool = False
    """Fly every variation that the scenario holds out from training as well."""
    sensitivity: PlotFile | None = None
    """Plot the first policy's success against every randomized parameter, within and beyond training: .png or .svg."""
    sensitivity_episodes: Count = 40
    """Episodes of each point of that plot."""
    paired: bool = False
    """Compare the first policy with each other one, episode by episode."""
    video: OutFile | None = None
    """Film the first policy's first episode in 3-D: .gif, .mp4, or .png for one picture with all paths."""
    require: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """FIGURE>=VALUE, as in 'success_rate>=0.95': the exit status is 1 unless it holds for every policy. Any figure of
    the JSON, with >= <= > < or ==; may be given several times."""
    against: str = ""
    """Second team of a game; by default the scenario's opponent."""
    on: str = ""
    """Place of workers that share the episodes: local, or ray://HOST:PORT of a Ray cluster; by default this process
    flies them alone. The figures are the same."""
    workers: Count | None = None
    """Processes that share the episodes; by default one a core of that place, as far as memory holds them."""


def run(args: Args) -> Figures:
    """Evaluate every policy as the scenario's domain does; print a table."""
    from robomarl.front.cli.require import judged, requirements

    required = requirements(args.require)
    simulation = simulation_for_options(args)
    evaluation = simulation.evaluation
    if not args.policies:
        raise UsageError(evaluation.nobody)
    if simulation.games is not None:
        refuse_in_games(args)
    if args.paired and len(args.estimator) > 1:
        raise UsageError("--paired compares policies; name one --estimator for all of them.")
    if args.paired:
        check_paired(args, simulation.games is not None)
    if args.video:
        evaluation.check_film(args.video)
    with shared(args.on or (LOCAL if args.workers else ""), args.workers):
        each = [replace(args, estimator=names) for names in ([(name,) for name in args.estimator] or [()])]
        flown = [(name, one) for name in args.policies for one in each]
        rows = [_row(evaluation, one, name, i == 0) for i, (name, one) in enumerate(flown)]
    figures = [row.figures for row in rows]
    print(evaluation.table(figures))
    for row in figures:
        print_held_out(row)
    return judged(_figures(args, figures, [row.flown and row.flown.success for row in rows]), required)


def _row(evaluation: "Evaluated[Scenario]", args: Args, name: str, is_first: bool) -> "EvalRow":
    """Evaluate one policy; the first one is filmed."""
    from robomarl.core.domain.scenario import needed

    row = evaluation.row(name, args, is_first)
    extend(row, args, is_first)
    if is_first and args.video and row.flown and row.scenario:
        film = needed(evaluation.film, row.scenario, "film", "leave out --video")
        film(row.flown.log, row.scenario, args.video)
        print(f"film: {args.video}")
    return row


def refuse_in_games(args: Args) -> None:
    """Raise `UsageError` for an option of episodes that succeed or fail: a game is won or lost against somebody."""
    if args.estimator:
        raise UsageError("--estimator is not for games; name the estimator in the scenario.")
    for option, given in (("--held-out", args.held_out), ("--sensitivity", args.sensitivity)):
        if given:
            raise UsageError(f"{option} is not for games; pin a parameter with --perturb NAME=VALUE.")


def check_paired(args: Args, in_games: bool) -> None:
    """Check before any flight; raises `UserError` if there is nothing to compare, or the episodes would differ."""
    from robomarl.lab.evaluate.resolve import resolve_policy

    if len(args.policies) < 2:
        raise UsageError("--paired compares the first policy with others; name another one, or leave it out.")
    if args.scenario or in_games:
        return
    if len(of := dict.fromkeys(resolve_policy(name)[1].name for name in args.policies)) > 1:
        raise UsageError(f"--paired needs the same episodes for all, not {', '.join(of)}; add --scenario NAME.")


def simulation_for_options(args: Args) -> "Simulation[Scenario, World]":
    """Return the simulation that evaluates: by the scenario, else by the first policy; `--against` is for games."""
    from robomarl.core.domain.registry import DEFAULT
    from robomarl.core.hardware.scenario_files import read_scenario
    from robomarl.lab.evaluate.resolve import BASELINE, is_controller, resolve_policy
    from robomarl.lab.simulation import simulation_for, simulation_named, simulation_of, simulations

    named = simulation_for(*read_scenario(args.scenario)) if args.scenario else None
    if named and (named.games or not args.against):
        return named
    first = args.policies[0] if args.policies else BASELINE
    played = [simulation for simulation in simulations() if simulation.games is not None]
    for simulation in played:
        if simulation.games and first in simulation.games.scripts:
            return simulation
    found = None if is_controller(first) else simulation_of(resolve_policy(first)[1])
    if args.against and not (found and found.games):
        return played[0]  # it says that there is no game
    return found or simulation_named(DEFAULT)


def extend(row: "EvalRow", args: Args, is_first: bool) -> None:
    """Add the further results that the options ask for, for policies with episodes that succeed or fail."""
    if row.flown is None or row.policy is None or row.scenario is None or row.config is None:
        return
    if args.held_out:
        row.figures["held_out"] = fly_held_out(row.policy, row.scenario, row.config)
    if args.sensitivity and is_first:
        row.figures["sensitivity"] = plot_sensitivity(args, row.policy, row.scenario)


def fly_held_out(policy: "FlownPolicy", scenario: "Scenario", config: "EvalConfig") -> dict[str, Figures]:
    """Figures of every variation that training never sees, by name.

    Raises:
        UserError: the scenario holds out nothing.
    """
    from robomarl.lab.evaluate.evaluate import evaluate
    from robomarl.lab.evaluate.variations import perturbed

    if not scenario.held_out:
        raise UserError(f"--held-out: scenario {scenario.name} has no section [held_out]; name some variations there.")
    quiet = replace(config, record=None)
    return {name: evaluate(policy, perturbed(scenario, [name]), quiet).figures for name in scenario.held_out}


def print_held_out(row: Figures) -> None:
    """One line for each held-out variation."""
    for name, found in row.get("held_out", {}).items():
        low, high = found["success_ci95"]
        print(
            f"{row['policy']}, held out {name:<16} success {found['success_rate']:.3f} [{low:.3f}, {high:.3f}], "
            f"{found['collision_episodes']} of {found['episodes']} with a collision"
        )


def plot_sensitivity(args: Args, policy: "FlownPolicy", scenario: "Scenario") -> dict[str, list[Figures]]:
    """Fly and draw the sensitivity to every randomized parameter."""
    from robomarl.front.report.plots.sensitivity import write_sensitivity
    from robomarl.lab.evaluate.evaluation import EvalConfig
    from robomarl.lab.evaluate.sensitivity import sensitivity

    assert args.sensitivity is not None, "only called with a file"
    config = EvalConfig(args.sim, args.sensitivity_episodes, args.seed, args.filter)
    points = sensitivity(policy, scenario, config)
    title = (
        f"{policy.name} in {scenario.name} on {args.sim}, filter {args.filter}: {args.sensitivity_episodes} episodes "
        "a point, 95 % intervals; shaded: training; x: collisions"
    )
    write_sensitivity(points, title, args.sensitivity)
    print(f"sensitivity: {args.sensitivity}")
    return points


def _figures(args: Args, rows: list[Figures], successes: list) -> Figures:
    from robomarl.lab.evaluate.intervals import paired_difference

    if len(rows) == 1:
        return rows[0]
    figures: Figures = {"policies": rows}
    if args.paired and successes[0] is not None:
        pairs = zip(args.policies[1:], successes[1:], strict=True)
        figures["paired"] = [
            {"first": args.policies[0], "second": name, **paired_difference(successes[0], other)}
            for name, other in pairs
        ]
        for pair in figures["paired"]:
            low, high = pair["difference_ci95"]
            print(
                f"{pair['first']} - {pair['second']}: success {pair['success_difference']:+.3f} "
                f"[{low:+.3f}, {high:+.3f}] over the same episodes"
            )
    return figures
