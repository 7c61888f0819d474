"""Options of `robomarl prove`, and the vehicle and team that they name."""

import dataclasses
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from robomarl.core.config import Count, Fraction, Natural, Positive, Range, Seed, UsageError, UserError, suggest
from robomarl.front.cli.ends import OutFolder

if TYPE_CHECKING:
    from robomarl.core.filter.model.bodies import Strangers
    from robomarl.core.hardware.vehicle import AnyVehicle


@dataclass(frozen=True)
class Args:
    """Options of `robomarl prove`."""

    target: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SCENARIO|BUNDLE|VEHICLE")]
    """Scenario or bundle: its vehicle, its rate and its team. Or a vehicle."""
    agent_steps: Annotated[float, Range(1)] = 2e5
    """Decisions of single robots, at least."""
    filter: Literal["full", "qp", "certificate", "textbook", "off"] = "full"
    """Safety filter; full is qp. certificate: committed courses (docs/certificate.md), in the campaign of teams."""
    task: Literal["adversarial", "swap", "roundabout"] = "adversarial"
    """Nominal commands that hunt teammates, or that trade places: straight on, or on arcs on which all keep right."""
    adversaries: tuple[str, ...] = ()
    """Some of seek, intercept, bang_bang, rush, swap, random; by default all, drawn for each robot."""
    gains: Literal["owner", "hostile"] = "owner"
    """Gains of the filters: the owner's, or ones that a policy draws anew at each decision, which may be any."""
    count: Annotated[int, Range(2)] | None = None
    """Robots in a team; by default the scenario's, or 8."""
    strangers: Natural | None = None
    """Bodies without a filter that hunt each team, with `--filter certificate` and a scenario whose safety parameters
    have strangers; by default as many as robots."""
    rate_hz: Annotated[float, Range(1, 1000)] | None = None
    """Decisions per second; by default the scenario's, or 50."""
    estimator: str = ""
    """State estimator whose bounds in the vehicle file the filter assumes, and the robots' errors reach: firmware,
    mocap, or assumed for the bounds of its section safety; by default the choice of the scenario or that file."""
    delay_s: Annotated[float, Range(0, 1)] | None = None
    """Another delay than the vehicle's, for the filter and for the robots."""
    seconds: Positive = 10.0
    """Length of an episode."""
    loss: Fraction = 0.3
    """Share of the messages that do not arrive."""
    seed: Seed = 0
    """Random seed of the campaign."""
    out: OutFolder | None = None
    """Folder for the flown batches, and without `--worst` for the report page."""
    resume: bool = False
    """Go on with the campaign in `--out`; where there is none yet, begin it."""
    worst: bool = False
    """Look for trouble: directed errors and a search, until the first contact; prints the robustness factor."""
    episodes: Count | None = None
    """Number of episodes of `--worst`: of two robots at the declared bounds, 20 000; with `--sim mujoco`
    of each variation, 24.
    """
    team_episodes: Natural = 500
    """Number of episodes of four to eight robots (with `--worst`)."""
    scales: tuple[Positive, ...] = ()
    """Scales of all declared bounds (with `--worst`); by default 1, then up (or down) to the first contact."""
    tube: bool = False
    """With `--filter certificate`: attack the tube that robots of this vehicle file stay in, and try to prove it, in
    about 20 s of processor time. A tube that an attack leaves is not proven."""
    sim: Literal["point", "mujoco"] = "point"
    """Simulator of `--worst`: point masses with directed errors, or malicious commands on MuJoCo (of a
    scenario or bundle).
    """
    on: str = ""
    """Place of the processes: local or ray://HOST:PORT for workers of Ray; by default processes of this machine. The
    figures don't depend on it."""
    workers: Count | None = None
    """Processes; by default one a core. The figures don't depend on them."""

    @property
    def processes(self) -> int:
        """Processes of this machine, without `--on`."""
        return self.workers or os.cpu_count() or 1


def setting_of(args: Args) -> "tuple[AnyVehicle, int, float]":
    """The vehicle, robots in a team and the period [s] that the options ask for."""
    from robomarl.core.hardware.vehicle import load_any_vehicle
    from robomarl.lab.evaluate.sealed_scenario import scenario_named

    if _is_vehicle(args.target):
        vehicle, count, period_s = load_any_vehicle(args.target, args.estimator), 8, 0.02
    else:
        check_target(args.target)
        scenario = scenario_named(args.target)
        scenario = dataclasses.replace(scenario, estimator=args.estimator or scenario.estimator)
        vehicle, count, period_s = scenario.vehicle_config, scenario.count, scenario.period_s
    if args.delay_s is not None:
        vehicle = dataclasses.replace(vehicle, safety=dataclasses.replace(vehicle.safety, delay_s=args.delay_s))
    return vehicle, args.count or count, 1 / args.rate_hz if args.rate_hz else period_s


def strangers_of(args: Args, count: int) -> "tuple[int, Strangers | None]":
    """Return the number of strangers that hunt a team of `count` robots, and their bounds; 0 and None for no strangers.

    Raises:
        UsageError: `--strangers` asks for some, and the filter is not the certificate, or nothing is assumed of them.
    """
    from robomarl.lab.evaluate.sealed_scenario import scenario_named
    from robomarl.lab.sim.filter_params import safety_params

    if args.filter != "certificate" or args.strangers == 0:
        if args.strangers:
            raise UsageError(f"--strangers {args.strangers} belongs to --filter certificate; leave it out.")
        return 0, None
    told = None if _is_vehicle(args.target) else safety_params(scenario_named(args.target)).strangers
    if told is None and args.strangers:
        raise UsageError(
            f"--strangers {args.strangers}: nothing is assumed of strangers in the safety parameters of {args.target}; "
            "name a scenario that has opponents, such as soccer_2v2, or leave it out."
        )
    return (count if args.strangers is None else args.strangers, told) if told else (0, None)


def _is_vehicle(target: str) -> bool:
    """Return whether a target of the command is a vehicle, by name or file."""
    from robomarl.core.paths import vehicles_dir

    return target.endswith((".yaml", ".yml")) or (vehicles_dir() / f"{target}.yaml").is_file()


def check_target(target: str) -> None:
    """Raises `UserError` with the nearest name if there is no scenario and no bundle of this name or path."""
    from robomarl.core.bundle.bundle import is_bundle
    from robomarl.core.hardware.scenario_files import is_scenario, scenario_names
    from robomarl.core.paths import bundles_dir, vehicles_dir

    if is_scenario(target) or is_bundle(target):
        return
    known = [*scenario_names(), *(file.parent.name for file in bundles_dir().glob("*/bundle.json"))]
    meant = suggest(target, sorted({*known, *(file.stem for file in vehicles_dir().glob("*.yaml"))}), "known")
    raise UserError(f"Unknown scenario, bundle or vehicle {target!r}; {meant}")
