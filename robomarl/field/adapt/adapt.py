"""`adapt`: a better bundle from the flights of one that was flown."""

from robomarl.core.config import UserError
from robomarl.core.domain.registry import domain_of_task
from robomarl.core.types import Figures
from robomarl.field.adapt.options import AdaptOptions
from robomarl.field.adapt.payload import adapt_carried
from robomarl.field.adapt.vehicles import adapt_vehicles
from robomarl.field.recorded_flights import RecordedFlights
from robomarl.field.work import field_of
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.train.run.bundle_as_run import run_of


def adapt(options: AdaptOptions, flown: RecordedFlights) -> Figures:
    """Identify, accept, train or search, judge and export, from flights of any recorder.

    Raises:
        UserError: the output folder exists, the bundle is for another kind of team or rate, or the flights say too
            little.
    """
    if options.out.exists():
        raise UserError(f"{options.out}: is there already; name another folder with --out.")
    known = run_of(options.bundle)
    check_bundle(options.bundle, known.scenario, flown.scenario)
    return (adapt_carried if field_of(flown.scenario).identify_payload else adapt_vehicles)(options, flown, known)


def check_bundle(bundle: str, known: Scenario, flown: Scenario) -> None:
    """Check a bundle before a minute of identification; raises `UserError` if it is for another kind of team or
    rate.
    """
    of, to = (f"{domain_of_task(s.task).name} at {s.rates.policy_hz:g} Hz" for s in (known, flown))
    if of != to:
        raise UserError(f"{bundle}: is for {of}, the recordings are of {to}; name the bundle that flew.")
