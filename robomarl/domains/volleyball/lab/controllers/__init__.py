"""Policies without training: analytic skills with gains that a search finds."""

from collections.abc import Callable

from robomarl.domains.volleyball.lab.commands import commanded
from robomarl.domains.volleyball.lab.controllers.apex import ApexBumpLaw
from robomarl.domains.volleyball.lab.controllers.passes import HardSpikeLaw, PassLaw, SpikeLaw
from robomarl.domains.volleyball.lab.controllers.run_up import HitLaw
from robomarl.domains.volleyball.lab.controllers.shuttle import ShuttleLaw
from robomarl.domains.volleyball.lab.controllers.skills import AimedLaw, PostLaw
from robomarl.domains.volleyball.lab.controllers.strike import BumpLaw
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.lab.sim.law import GainedLaw

LEARNED_WIDTHS = (0.1, 0.2)
"""Widths of the restitution's range between which the law of `volley_bump` learns from the apexes that it reaches.
The bundle `volley_bump_transfer` (0.17) was searched with learning, `volley_juggle` (0.23) without."""


def bump_law(scenario: VolleyScenario) -> BumpLaw:
    """The law of `volley_bump`, which learns if the width of the restitution's range is one of `LEARNED_WIDTHS`."""
    low, high = scenario.randomize.restitution
    least, most = LEARNED_WIDTHS
    return ApexBumpLaw(scenario) if least < high - low < most else BumpLaw(scenario)


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
    return law if scenario.command == "acceleration" else commanded(scenario, law)
