"""The safety filter between policies and vehicles in training, for every kind of team."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from robomarl.core.certificate.figures import ruled
from robomarl.core.config import UserError
from robomarl.core.domain.registry import command_of, domain_of_task
from robomarl.core.view import LocalView, Plan
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.trees import Tree


class PassThrough:
    """The filter that lets everything through."""

    def init(self, batch: tuple[int, ...]) -> tuple:
        """No memory."""
        return ()

    def __call__(self, carry: tuple, view: LocalView, nominal: jax.Array) -> tuple[tuple, jax.Array]:
        """Return the nominal command unchanged."""
        return carry, nominal

    def seen(self, carry: tuple, view: LocalView) -> LocalView:
        """Return the view unchanged."""
        return view


class Guarded(NamedTuple):
    """Memory of the filter, and of the rules before it."""

    safety: Tree
    way: Tree = ()

    @property
    def plan(self) -> Plan:
        """Return the filter's plan."""
        return self.safety.plan


class TrainingFilter:
    """The safety filter in JAX behind the domain's rules against deadlock, as a function to the command alone."""

    def __init__(self, scenario: Scenario, mode: str) -> None:
        """Work out the constants."""
        from robomarl.lab.certified import certified_team
        from robomarl.lab.jax_filter.filter import jax_library, make_jax_filter
        from robomarl.lab.sim.filter_params import safety_params
        from robomarl.lab.sim.model.upright_filter import FilterOnceUpright
        from robomarl.lab.simulation import simulation_of

        params, thrown = safety_params(scenario), mode == "upright"
        if mode == "certificate":
            self._team = certified_team(scenario, params, jax_library(params.planar))
            self._init, self._decide = self._team.init, self._team
            params = ruled(params, self._team.figures)
        else:
            own = make_jax_filter(params, "qp" if thrown else mode)  # type: ignore[arg-type]
            around = command_of(simulation_of(scenario).action(scenario)).around
            decide = own if around is None else partial(around, own)
            once = FilterOnceUpright(own, scenario.period_s, decide)
            self._team = None
            self._init, self._decide = (once.init, once) if thrown else (own.init, decide)
        self._rules = domain_of_task(scenario.task).onboard.rules(params)

    def init(self, batch: tuple[int, ...]) -> Guarded:
        """The memory before the first decision."""
        return Guarded(self._init(batch), self._rules.init(jnp.zeros(batch)) if self._rules else ())

    def __call__(self, carry: Guarded, view: LocalView, nominal: jax.Array) -> tuple[Guarded, jax.Array]:
        """The command that is sent."""
        way, asked = self._rules(carry.way, view, nominal) if self._rules else (carry.way, nominal)
        safety, result = self._decide(carry.safety, view, asked)
        way = self._rules.after(way, result) if self._rules else way
        return Guarded(safety, way), result.command.astype(nominal.dtype)

    def seen(self, carry: Guarded, view: LocalView) -> LocalView:
        """Return the view that policies decide on: certified robots are where their references are."""
        return self._team.seen(carry.safety, view) if self._team else view


def make_filter(scenario: Scenario, mode: str) -> TrainingFilter | PassThrough:
    """The filter of that name in JAX; "off": one that lets everything through.

    Raises:
        UserError: there is none.
    """
    if mode == "off":
        return PassThrough()
    if mode not in ("qp", "textbook", "upright", "certificate"):
        raise UserError(f"filter = {mode!r} is not a filter; allowed: off, qp, textbook, upright, certificate.")
    return TrainingFilter(scenario, mode)
