"""`make_pilot`: a policy behind the filter of a scenario's vehicle, for every kind of team."""

from typing import Any, Protocol

import numpy as np

from robomarl.core.bundle.pilot import Pilot
from robomarl.core.certificate.figures import ruled
from robomarl.core.config import UserError
from robomarl.core.domain.registry import domain_of_task, filter_for
from robomarl.core.filter.params import SafetyParams
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import LocalView
from robomarl.lab.certified import certified_team
from robomarl.lab.evaluate.evaluation import FlownPolicy
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.model.upright_filter import FilterOnceUpright
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of

FilterMemory = Any
"""Memory of a filter: a NamedTuple of its own kind, empty without a filter."""


class Guard(Protocol):
    """A safety filter of any kind of command, or `NoFilter`."""

    def init(self, batch: tuple[int, ...], /) -> FilterMemory:
        """Memory before the first decision."""
        ...

    def __call__(
        self, carry: FilterMemory, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None = None, /
    ) -> tuple[FilterMemory, FilterResult]:
        """(memory, view, nominal [..., A], gain that the policy asks for [...]) -> (memory, result)."""
        ...


class TeamGuard(Guard, Protocol):
    """A guard for a campaign, which takes its bounds from the guard's parameters."""

    params: SafetyParams


class NoFilter:
    """Substitute for the safety filter in mode "off": commands pass unchanged."""

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """No memory."""
        return ()

    def __call__(
        self, carry: tuple, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None = None
    ) -> tuple[tuple, FilterResult]:
        """(carry, view, nominal [..., A], gain that is not used) -> (carry, result)."""
        zero = np.zeros(nominal.shape[:-1], np.float32)
        no = zero.astype(bool)
        return carry, FilterResult(nominal, nominal, no, zero, ~no, zero.astype(np.int32), zero + np.inf)


def make_pilot(policy: FlownPolicy, scenario: Scenario, mode: str, params: SafetyParams | None = None) -> Pilot:
    """Return the policy behind the filter of the scenario's vehicle, surroundings and rate.

    Args:
        policy: policy that moves the robots.
        scenario: scenario in which they move.
        mode: a name of `robomarl.lab.evaluate.evaluate.FILTERS`; "full" is "qp" until robots fly the
            certificate too.
        params: of the filter; by default those of the scenario.

    Raises:
        UserError: the policy commands another kind of vehicle, or decides at another rate.
    """
    wanted = simulation_of(scenario).action(scenario)
    has, takes = (", ".join(field.name for field in spec.fields) for spec in (policy.action, wanted))
    if has != takes:
        raise UserError(
            f"{policy.name} commands {has}; scenario {scenario.name} takes {takes}; name another --scenario."
        )
    rate_hz = getattr(getattr(policy, "contract", None), "rate_hz", scenario.rates.policy_hz)
    if abs(rate_hz - scenario.rates.policy_hz) > 1e-6:
        raise UserError(
            f"{policy.name} decides at {rate_hz:g} Hz, scenario {scenario.name} runs at "
            f"{scenario.rates.policy_hz:g} Hz; name a --scenario of that rate."
        )
    if mode == "off":
        return Pilot(policy, NoFilter())  # pyright: ignore[reportArgumentType]
    params = params or safety_params(scenario)
    if mode == "certificate":
        team = certified_team(scenario, params)
        rules = domain_of_task(scenario.task).onboard.rules(ruled(params, team.figures))
        return Pilot(policy, team, rules)  # pyright: ignore[reportArgumentType]
    safety = filter_for(policy.action, params, "textbook" if mode == "textbook" else "qp")
    chosen = FilterOnceUpright(safety, scenario.period_s) if mode == "upright" else safety
    return Pilot(policy, chosen, domain_of_task(scenario.task).onboard.rules(params))  # pyright: ignore[reportArgumentType]
