"""Options of an adaptation, and the steps that teams of all kinds share."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robomarl.core.bundle import golden
from robomarl.core.bundle.bundle import GOLDEN_FILE, load_bundle
from robomarl.core.bundle.runtime import Policy
from robomarl.core.config import UserError
from robomarl.field.identify.flight_sets import FlightSets
from robomarl.field.identify.residual import three_sets
from robomarl.field.recorded_flights import RecordedFlights


@dataclass(frozen=True)
class AdaptOptions:
    """How a bundle is adapted."""

    bundle: str
    """Name or folder of the bundle to begin with."""
    bags: tuple[Path, ...]
    """Folders of the bundle's recordings."""
    out: Path = Path("runs/adapted")
    """Folder for the identified vehicles, the run and the new bundle."""
    scenario: str = ""
    """Name or file of the scenario that is fitted; by default the one that was flown."""
    layout: Path | None = None
    """File that names the robots and topics in recordings of other software (PX4, MAVROS, Crazyswarm2)."""
    judge: str = ""
    """Scenario in which both bundles are judged; by default the one identified from the held-out flights alone."""
    minutes: float = 2.0
    """Longest training time [min]."""
    steps: int | None = None
    """Agent-steps; by default 2 million, or for a law with searched gains the number in its recipe."""
    learning_rate: float = 1e-3
    """Largest."""
    stay_cost: float = 0.0
    """Weight of the KL divergence from the bundle's policy: a larger one keeps the new policy nearer to it."""
    hold_out: float = 0.25
    """Share of the flights that the fit does not see."""
    residual: bool = True
    """Learn the errors of the identified vehicles, and train with them if that predicts held-out flights better."""
    episodes: int = 200
    """Number of episodes of each bundle on mujoco."""
    seed: int = 0
    """Seed of training and episodes."""
    least_gain: float = 0.0
    """Minimum gain in success rate (0 to 1); with less, no bundle is written."""


def split(options: AdaptOptions, flown: RecordedFlights) -> FlightSets:
    """The `FlightSets` of these flights; raises `UserError` where there is none to fit, or none to hold out."""
    sets = three_sets(flown.tracks, options.hold_out)
    if not sets.gate:
        raise UserError("the recordings hold one flight, and none could be held out; record another one.")
    if not sets.fit:
        raise UserError(f"--hold-out {options.hold_out:g}: leaves no flight to identify anything from; hold out fewer.")
    return sets


def change_of(parent: str, child: Path | None) -> float | None:
    """Mean absolute difference of the actions on the parent's golden observations: how far the policy has gone."""

    if child is None:
        return None
    both = [load_bundle(source) for source in (parent, str(child))]
    seen = golden.from_bytes(both[0].files[GOLDEN_FILE]).obs
    flat = np.asarray(seen, np.float32).reshape(-1, seen.shape[-1])
    actions = [policy(policy.init((len(flat),)), flat)[1] for policy in map(Policy, both)]
    return float(np.abs(actions[1] - actions[0]).mean())
