"""Measure the values of a vehicle file's section `safety`: delay, errors and brakes, from flights on mujoco."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

from robomarl.core.config import Fraction, NonNegative, Positive, Range
from robomarl.core.types import Figures
from robomarl.front.cli.ends import PlotFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robomarl.core.hardware.vehicle import AnyVehicle
    from robomarl.field.limits.measure import Figures as ConditionFigures
    from robomarl.field.limits.measure import LimitFigure, MeasureConfig


@dataclass(frozen=True)
class Args:
    """Options of `robomarl identify-limits`."""

    vehicle: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="VEHICLE")]
    """Name or file."""
    scenario: tuple[str, ...] = ()
    """Scenarios that give the conditions, names or files; by default all that have this vehicle."""
    accel_error: NonNegative | None = None
    """The smallest delay is chosen that needs no larger accel_error_m_s2 than this; by default the file's."""
    early_s: NonNegative | None = None
    """Earliest effect of a command; by default half of each delay, as the filter assumes."""
    tolerance: Positive = 0.01
    """Tolerance of a change of velocity beyond the model [m/s]."""
    margin: Annotated[float, Range(1)] = 1.15
    """Factor on every figure but the delay."""
    turns: Fraction = 1.0
    """Share of the largest yaw rate that is commanded on the way."""
    quick: bool = False
    """Fly fewer maneuvers: 8 instead of 24 random ones, and no square waves or sweeps."""
    plot: PlotFile | None = None
    """File for a picture of the frontier and of the worst flights."""


def run(args: Args) -> Figures:
    """Fly, fit, print the frontier and the figures; `passed` says that the vehicle's file covers the measured
    values.
    """
    from robomarl.core.hardware.vehicle import load_any_vehicle
    from robomarl.field.limits.measure import chosen, for_file, make_rig, measure, rows
    from robomarl.field.limits.scenarios import grouped, scenarios_of

    vehicle = load_any_vehicle(args.vehicle)
    groups = grouped(scenarios_of(args.vehicle, vehicle, args.scenario))
    config = for_file(settings(args), vehicle.safety)
    rigs = [(make_rig(scenario, vehicle, config), conditions) for scenario, conditions in groups]
    from tqdm import tqdm

    total = sum(len(conditions) for _, conditions in groups)
    found = list(
        tqdm(measure(rigs), total=total, desc="identify-limits", unit=" conditions", leave=False, disable=None)
    )
    limit = vehicle.safety.accel_error_m_s2 if args.accel_error is None else args.accel_error
    at = chosen(config, found, limit)
    table = rows(vehicle, config, found, at)
    print(frontier_text(config, found), figures_text(vehicle, table), bias_text(found), sep="\n\n")
    print(f"\n{source(vehicle.name)}")
    if args.plot:
        from robomarl.field.limits.plot import plot

        plot(args.plot, rigs, found, config, at)
    return figures(vehicle, config, found, table)


def settings(args: Args) -> "MeasureConfig":
    """Return the configuration that the options ask for."""
    from robomarl.field.limits.measure import MeasureConfig
    from robomarl.lab.plants.excite import ExciteConfig

    excite = ExciteConfig(randoms=8 if args.quick else 24, waves=not args.quick, turns=args.turns)
    return MeasureConfig(excite, early_s=args.early_s, tolerance_m_s=args.tolerance, margin=args.margin)


def source(name: str) -> str:
    """Return the text that the file's `sources` should have for each figure."""
    import datetime

    return f"measured on mujoco: robomarl identify-limits {name}, {datetime.date.today().isoformat()}"


def frontier_text(config: "MeasureConfig", found: "Sequence[ConditionFigures]") -> str:
    """Delay against the error that it needs, for each variation."""
    variations = list(dict.fromkeys(f.condition.variation for f in found))
    lines = ["accel_error_m_s2 that each delay needs, and deceleration held after it:"]
    lines.append(f"  {'delay_s':<10}{'all':>8}{'brake':>8}" + "".join(f"{v:>14}" for v in variations))
    for i, delay_s in enumerate(config.delays_s):
        each = [max(f.error_m_s2[i] for f in found if f.condition.variation == v) for v in variations]
        brake = min(f.brake_m_s2[i] for f in found)
        lines.append(f"  {delay_s:<10g}{max(each):>8.2f}{brake:>8.2f}" + "".join(f"{w:>14.2f}" for w in each))
    return "\n".join(lines)


def figures_text(vehicle: "AnyVehicle", table: "Sequence[LimitFigure]") -> str:
    """The figures, and whether the file covers them."""
    lines = [f"  {'key':<20}{'measured':>10}{'with margin':>13}{'in the file':>13}  verdict"]
    for row in table:
        verdict = "covered" if row.covered else "NOT covered"
        lines.append(f"  {row.name:<20}{row.measured:>10.3g}{row.value:>13g}{row.file:>13g}  {verdict}")
    return "\n".join([f"{vehicle.name}.yaml, section safety:", *lines])


def bias_text(found: "Sequence[ConditionFigures]") -> str:
    """Constant part for each variation, horizontal and vertical, and the worst condition."""
    lines = [f"  {'variation':<16}{'horizontal':>12}{'vertical from':>15}{'to':>8}{'overshoot m/s':>15}"]
    for name in dict.fromkeys(f.condition.variation for f in found):
        part = [f for f in found if f.condition.variation == name]
        level = max(abs(f.bias_m_s2[:2]).max() for f in part)
        low, high = min(f.bias_m_s2[2] for f in part), max(f.bias_m_s2[2] for f in part)
        fast = max(f.overshoot_m_s for f in part)
        lines.append(f"  {name:<16}{level:>12.2f}{low:>15.2f}{high:>8.2f}{fast:>15.2f}")
    return "\n".join(["constant part of the acceleration beyond the command:", *lines])


def figures(
    vehicle: "AnyVehicle", config: "MeasureConfig", found: "Sequence[ConditionFigures]", table: "Sequence[LimitFigure]"
) -> Figures:
    """For `--json`."""
    frontier = [
        {"delay_s": d, "accel_error_m_s2": max(f.error_m_s2[i] for f in found)} for i, d in enumerate(config.delays_s)
    ]
    return {
        "vehicle": vehicle.name,
        "conditions": len(found),
        "tolerance_m_s": config.tolerance_m_s,
        "margin": config.margin,
        "parameters": [row._asdict() for row in table],
        "frontier": frontier,
        "overshoot_m_s": max(f.overshoot_m_s for f in found),
        "covered": all(row.covered for row in table),
        "passed": all(row.covered for row in table),
        "source": source(vehicle.name),
    }
