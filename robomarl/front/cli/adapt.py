"""Improve a bundle for the vehicles and the weather of its recordings; the new bundle says where it comes from."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from robomarl.core.config import Count, Fraction, NonNegative, Positive, Seed
from robomarl.core.types import Figures
from robomarl.front.cli import write_json
from robomarl.front.cli.ends import OutFolder

if TYPE_CHECKING:
    from robomarl.field.recorded_flights import RecordedFlights


@dataclass(frozen=True)
class Args:
    """Options of `robomarl adapt`."""

    bundle: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BUNDLE")]
    """Name or folder of the bundle to begin with."""
    bags: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="BAG [BAG ...]")]
    """Folders of the bundle's recordings."""
    out: OutFolder = Path("runs/adapted")
    """Folder for the identified vehicles, the run and the new bundle."""
    scenario: str = ""
    """Name or file of the scenario that is fitted; by default the one that was flown."""
    layout: Path | None = None
    """File that names the robots and topics in recordings of other software (PX4, MAVROS, Crazyswarm2)."""
    judge: str = ""
    """Scenario in which both bundles are judged; by default the one identified from the held-out flights alone."""
    minutes: Positive = 2.0
    """Longest training time [min]."""
    steps: Count | None = None
    """Agent-steps; by default 2 million, or for a law with searched gains the number in its recipe."""
    learning_rate: Positive = 1e-3
    """Largest."""
    stay_cost: NonNegative = 0.0
    """Weight of the KL divergence from the bundle's policy: a larger one keeps the new policy nearer to it."""
    hold_out: Fraction = 0.25
    """Share of the flights that the fit does not see."""
    residual: bool = True
    """Learn the errors of the identified vehicles, and train with them if that predicts held-out flights better."""
    episodes: Count = 200
    """Number of episodes of each bundle on mujoco."""
    seed: Seed = 0
    """Seed of training and episodes."""
    least_gain: NonNegative = 0.0
    """Minimum gain in success rate (0 to 1); with less, no bundle is written."""


def run(args: Args) -> Figures:
    """Identify, accept, train, judge, export."""
    from robomarl.field.recorded_flights import read_flights

    return adapt(args, read_flights(args.bags, args.scenario, "", args.layout))


def adapt(args: Args, flown: "RecordedFlights") -> Figures:
    """Adapt to these flights, and write `adapt.json` beside the new bundle."""
    from robomarl.field.adapt.adapt import adapt as adapted
    from robomarl.field.adapt.options import AdaptOptions

    options = AdaptOptions(**{field.name: getattr(args, field.name) for field in fields(args)})
    figures = adapted(options, flown)
    write_json(args.out / "adapt.json", figures)
    return figures
