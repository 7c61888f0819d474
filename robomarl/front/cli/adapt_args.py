"""Options of `robomarl adapt`, and the steps that all kinds of teams share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from robomarl.core.config import Count, Fraction, NonNegative, Positive, Seed, UserError
from robomarl.front.cli.ends import OutFolder
from robomarl.front.cli.identify import RecordedFlights


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


def split(args: Args, flown: RecordedFlights) -> Any:
    """The `FlightSets` of these flights; raises `UserError` where there is none to fit, or none to hold out."""
    from robomarl.field.identify.residual import three_sets

    sets = three_sets(flown.tracks, args.hold_out)
    if not sets.gate:
        raise UserError("the recordings hold one flight, and none could be held out; record another one.")
    if not sets.fit:
        raise UserError(f"--hold-out {args.hold_out:g}: leaves no flight to identify anything from; hold out fewer.")
    return sets


def change_of(parent: str, child: Path | None) -> float | None:
    """Mean absolute difference of the actions on the parent's golden observations: how far the policy has gone."""
    import numpy as np

    from robomarl.core.bundle import golden
    from robomarl.core.bundle.bundle import GOLDEN_FILE, load_bundle
    from robomarl.core.bundle.runtime import Policy

    if child is None:
        return None
    both = [load_bundle(source) for source in (parent, str(child))]
    seen = golden.from_bytes(both[0].files[GOLDEN_FILE]).obs
    flat = np.asarray(seen, np.float32).reshape(-1, seen.shape[-1])
    actions = [policy(policy.init((len(flat),)), flat)[1] for policy in map(Policy, both)]
    return float(np.abs(actions[1] - actions[0]).mean())
