"""Policies without training: analytic skills with gains that a search finds."""

from collections.abc import Callable

from robomarl.domains.volleyball.lab.commands import CommandedLaw
from robomarl.domains.volleyball.lab.controllers.apex import ApexBumpLaw
from robomarl.domains.volleyball.lab.controllers.passes import HardSpikeLaw, PassLaw, SpikeLaw
from robomarl.domains.volleyball.lab.controllers.run_up import HitLaw
from robomarl.domains.volleyball.lab.controllers.shuttle import ShuttleLaw
from robomarl.domains.volleyball.lab.controllers.skills import AimedLaw, PostLaw
from robomarl.domains.volleyball.lab.controllers.strike import BumpLaw
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.lab.sim.law import GainedLaw

UNKNOWN = 0.1
"""Width of the range of the restitution above which a law learns from the apexes that it reaches."""


def bump_law(scenario: VolleyScenario) -> BumpLaw:
    """The law of `volley_bump`, which learns if the racket's restitution is unknown."""
    low, high = scenario.randomize.restitution
    return ApexBumpLaw(scenario) if high - low > UNKNOWN else BumpLaw(scenario)


LAWS: dict[str, Callable[[VolleyScenario], GainedLaw]] = {
    "volley_back_and_forth": ShuttleLaw,
    "volley_hit": HitLaw,
    "volley_bump": bump_law,
    "volley_bump_pass": PassLaw,
    "volley_spike_easy": SpikeLaw,
    "volley_spike_hard": HardSpikeLaw,
    "volley_strike": AimedLaw,
    "volley_post": PostLaw,
}


def law_of(scenario: VolleyScenario) -> GainedLaw:
    """The analytic skill of a scenario's task."""
    law = LAWS[scenario.task](scenario)
    return law if scenario.command == "acceleration" else CommandedLaw(scenario, law)
