"""`FieldWork`: the half of a domain that learns from recorded flights. What generic code asks of a kind of team."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FieldWork:
    """One for each domain that has any; `field_of(scenario)` finds it."""

    reflown: Any = None
    """`robomarl.field.identify.legs.Reflown`: how recorded legs are flown again; None: not at all."""
    fitted: Callable[[Any], Any] | None = None
    """Scenario -> `robomarl.field.identify.fit.FittedModel`, what is fitted to recorded flights; None: nothing."""
    identify_payload: Callable[[Any, Any], Any] | None = None
    """(scenario, tracks) -> `robomarl.field.identify.carried.CarriedFigures`: of what a team carries; None:
    it carries nothing, and its vehicles are fitted."""
    mass_correction: Callable[[Any, Any], Any] = lambda found, tracks: None
    """(what was identified, tracks) -> `robomarl.field.identify.believed.MassCorrection`; None: masses are as believed."""
    residual: Callable[..., Any] | None = None
    """(scenario, what was identified, `robomarl.field.identify.flight_sets.FlightSets`, seed) -> `Candidate`, what the
    fitted model misses, learned; None: it is left at that."""
