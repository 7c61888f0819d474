"""`FieldWork`: the half of a domain that learns from recorded flights, as the field floor uses it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from robomarl.core.domain.base import of_kind
from robomarl.core.domain.registry import domain_of_task
from robomarl.field.identify.believed import MassCorrection
from robomarl.field.identify.carried import CarriedFigures
from robomarl.field.identify.fit import FittedModel
from robomarl.field.identify.flight_sets import Candidate, FlightSets
from robomarl.field.identify.legs import Reflown
from robomarl.field.identify.robot_fit import RobotFit
from robomarl.field.track import RobotTrack
from robomarl.lab.sim.scenario import Scenario

S = TypeVar("S", bound=Scenario)
"""The domain's scenario."""


@dataclass(frozen=True)
class FieldWork(Generic[S]):
    """One for each domain that has any; `field_of(scenario)` finds it."""

    reflown: Reflown[S] | None = None
    """How recorded legs are flown again; None: not at all."""
    fitted: Callable[[S], FittedModel] | None = None
    """Scenario -> the model that is fitted to recorded flights; None: no model is fitted."""
    identify_payload: Callable[[S, Sequence[RobotTrack]], CarriedFigures] | None = None
    """(scenario, tracks) -> figures of the payload; None: there is none, and the vehicles are fitted."""
    mass_correction: Callable[[Sequence[RobotFit], Sequence[RobotTrack]], MassCorrection | None] = (
        lambda found, tracks: None
    )
    """(identification results, tracks) -> the mass that the low-level controllers should assume; None: the
    one that they assume.
    """
    residual: Callable[[S, Sequence[RobotFit], FlightSets, int], Candidate | None] | None = None
    """(scenario, identification results, flights, seed) -> a learned model of the fitted model's errors,
    or None for too few flights; None: nothing is learned.
    """


def field_of(scenario: S) -> FieldWork[S]:
    """The half that learns from flights of the domain that a scenario belongs to.

    Raises:
        UserError: no domain has its task, or the domain names a half that can't be imported.
    """
    domain = domain_of_task(scenario.task)
    if domain.field is None:
        return FieldWork()
    return of_kind(domain.field, FieldWork, f"Domain {domain.name!r}: {domain.field_half}")
