"""`FieldWork`: the half of a domain that learns from recorded flights, as generic code uses it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FieldWork:
    """One for each domain that has any; `field_of(scenario)` finds it."""

    reflown: Any = None
    """`robomarl.field.identify.legs.Reflown`: how recorded legs are flown again; None: not at all."""
    fitted: Callable[[Any], Any] | None = None
    """Scenario -> `robomarl.field.identify.fit.FittedModel`, the model fitted to recorded flights; None:
    no model is fitted.
    """
    identify_payload: Callable[[Any, Any], Any] | None = None
    """(scenario, tracks) -> `robomarl.field.identify.carried.CarriedFigures`: of what a team carries; None:
    it carries nothing, and its vehicles are fitted."""
    mass_correction: Callable[[Any, Any], Any] = lambda found, tracks: None
    """(what was identified, tracks) -> `robomarl.field.identify.believed.MassCorrection`; None: masses are as believed."""
    residual: Callable[..., Any] | None = None
    """(scenario, identification results, `robomarl.field.identify.residual.FlightSets`, seed) ->
    `Candidate`, a learned model of the fitted model's errors; None: nothing is learned.
    """
