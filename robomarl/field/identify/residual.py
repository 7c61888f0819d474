"""Decision on a residual: the learned error of the identified vehicles must predict flights that it
has not seen.

A domain learns it (`FieldWork.residual`) from one set of flights, ends in time by a second, and is
judged on a third.
"""

from collections.abc import Sequence
from typing import NamedTuple

from robomarl.core.bundle.provenance import UsedResidual
from robomarl.core.types import Figures
from robomarl.field.identify.flight_sets import Candidate, FlightSets
from robomarl.field.identify.held_out import AFTER_S, Prediction, paired, split_flights
from robomarl.field.identify.identify import RobotFit
from robomarl.field.track import RobotTrack
from robomarl.field.work import field_of
from robomarl.lab.sim.scenario import Scenario

LEAST_GAIN = 0.05
"""A residual that predicts by less than this share better is not worth to be trained with."""


def used(prediction: Prediction, section: Figures) -> UsedResidual:
    """Return the record that is sealed into a bundle that is trained with it."""
    return UsedResidual(section["sha256"], prediction.before_m, prediction.after_m, prediction.windows)


class Judged(NamedTuple):
    """The verdict."""

    prediction: Prediction | None
    """None where nothing could be learned."""
    candidate: Candidate | None
    """None where it is left out."""
    said: str
    """One sentence."""

    @property
    def figures(self) -> Figures:
        """For JSON."""
        seen = {} if self.prediction is None else self.prediction._asdict()
        return {"used": self.candidate is not None, "said": self.said, **seen}


def three_sets(tracks: Sequence[RobotTrack], share: float) -> FlightSets:
    """Return the last flights for the gate, and those before them to end the fit; each set is this share of the
    rest.
    """
    rest, gate = split_flights(tracks, share)
    return FlightSets(*split_flights(rest, share), gate)


def learn_residual(scenario: Scenario, found: Sequence[RobotFit], sets: FlightSets | None, seed: int) -> Judged:
    """Learn a residual, and accept or reject it.

    Args:
        scenario: scenario that was flown.
        found: identification results, from flights that are not the gate's.
        sets: sets of the flights; None if no residual is wanted.
        seed: seed of the first weights.
    """
    if sets is None:
        return Judged(None, None, "no residual: none was wanted.")
    learn = field_of(scenario).residual
    if learn is None:
        return Judged(None, None, f"no residual: task = {scenario.task!r} has none.")
    if not sets.stop:
        return Judged(None, None, "no residual: it takes three flights, to fit, to end the fit and to judge it.")
    candidate = learn(scenario, found, sets, seed)
    if candidate is None:
        return Judged(None, None, "no residual: the flights to end the fit or to judge it have no whole window.")
    return judged(candidate)


def judged(candidate: Candidate) -> Judged:
    """The gate."""
    seen = paired(candidate.before_m, candidate.after_m, candidate.place, round(2 / AFTER_S))
    what = f"held-out flights, position {AFTER_S:g} s on: {1e3 * seen.before_m:.1f} mm as identified, "
    what += f"{1e3 * seen.after_m:.1f} mm with the residual"
    if seen.is_better and seen.after_m <= (1 - LEAST_GAIN) * seen.before_m:
        return Judged(seen, candidate, f"a residual is used: {what}.")
    return Judged(seen, None, f"no residual, since it does not help: {what}.")


def section_text(section: Figures) -> str:
    """Return the section of a scenario file."""
    rows = (f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}" for key, value in section.items())
    return "\n".join(["", "[residual]", *rows, ""])
