"""`Scenario`: common part of every scenario file, and the loading of all kinds of scenario by name or path."""

import dataclasses
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, overload

from robomarl.core.config import Count, Positive, UserError, build
from robomarl.core.config.versions import migrated
from robomarl.core.domain.base import Domain, of_kind
from robomarl.core.domain.onboard import Content
from robomarl.core.domain.registry import DEFAULT, domain_named, domain_of
from robomarl.core.hardware.scenario_files import read_scenario
from robomarl.core.hardware.vehicle import AnyVehicle, load_any_vehicle
from robomarl.core.hardware.versions import SCENARIO_STEPS
from robomarl.lab.sim.radio import RadioConfig
from robomarl.lab.sim.randomize import Randomize


@dataclass(frozen=True)
class RateConfig:
    """How often things happen, the slowest first; each is a multiple of the one before it."""

    policy_hz: Positive
    """Decisions per second."""
    physics_hz: Positive
    """Sub-steps of the physics and of the low-level controller per second; a multiple of `policy_hz`."""

    def __post_init__(self) -> None:
        """Check that the rates divide."""
        for low, high in itertools.pairwise(field.name for field in dataclasses.fields(self)):
            slow, fast = getattr(self, low), getattr(self, high)
            if fast / slow < 1 or abs(fast / slow - round(fast / slow)) > 1e-6:
                raise ValueError(f"{high} = {fast:g} must be a multiple of {low} = {slow:g}.")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One scenario and its vehicle; a kind of team adds its sections to a subclass."""

    version: Literal[2]
    """Version of the file's layout; files of version 1 are read too."""
    task: str
    """Reward and termination; leads to the domain."""
    vehicle: str
    """Name or path of the vehicle file."""
    estimator: str | None = None
    """Estimator in that file whose bounds the safety filter assumes, or "assumed"; None: the file's choice."""
    count: Count
    """Robots in the team, in each of two."""
    time_limit_s: Positive
    """Length of an episode or a match."""
    rates: RateConfig
    radio: RadioConfig
    randomize: Randomize = Randomize()
    """Parameters that are drawn anew for each episode; its fields are intervals."""
    held_out: dict[str, dict[str, float]] = dataclasses.field(default_factory=dict)
    """Variations that training never sees: name -> {parameter: value}."""
    name: str = ""
    """The name that it was loaded by."""

    def __post_init__(self) -> None:
        """Check held-out variations, latency and episode length; raises `ValueError`."""
        known = sorted(self.randomized)
        for variation, values in self.held_out.items():
            for name in values:
                if name not in known:
                    allowed = ", ".join(known) or "none"
                    raise ValueError(f"held_out.{variation}.{name} is not a randomized parameter; allowed: {allowed}.")
            self._check_variation(variation, values)
        self.check_latency("radio", self.radio.latency_s)
        if self.max_steps < 1:
            raise ValueError(f"time_limit_s = {self.time_limit_s:g} is no decision: the period is {self.period_s:g} s.")

    def _check_variation(self, name: str, values: dict[str, float]) -> None:
        """Check that a parameter may have the value of a variation; raises `ValueError`."""
        try:
            dataclasses.replace(self.randomize, **{key: (value, value) for key, value in values.items()})
        except ValueError as error:
            raise ValueError(f"held_out.{name}: {error}") from None

    def check_latency(self, section: str, latency_s: float) -> None:
        """Check that a latency is a multiple of the decision period; raises `ValueError`."""
        periods = latency_s * self.rates.policy_hz
        if abs(periods - round(periods)) > 1e-6:
            raise ValueError(
                f"{section}.latency_s = {latency_s:g} must be a multiple of the decision period, {self.period_s:g} s."
            )

    @cached_property
    def vehicle_config(self) -> AnyVehicle:
        """The vehicle file."""
        return load_any_vehicle(self.vehicle, self.estimator or "")

    @property
    def named_files(self) -> dict[str, str]:
        """Files that do not ship, by the dotted key that names them: they go where the scenario goes."""
        return {"vehicle": self.vehicle} if self.vehicle.endswith((".yaml", ".yml")) else {}

    @property
    def randomized(self) -> tuple[str, ...]:
        """Names of the parameters that can be randomized and perturbed."""
        return tuple(field.name for field in dataclasses.fields(self.randomize))

    @property
    def period_s(self) -> float:
        """Time between two decisions."""
        return 1.0 / self.rates.policy_hz

    @property
    def substeps(self) -> int:
        """Physics steps per decision."""
        return round(self.rates.physics_hz / self.rates.policy_hz)

    @property
    def physics_dt_s(self) -> float:
        """Length of one physics step."""
        return 1.0 / self.rates.physics_hz

    @property
    def max_steps(self) -> int:
        """Decisions in an episode or a match."""
        return round(self.time_limit_s * self.rates.policy_hz)


S = TypeVar("S", bound=Scenario)


@dataclass(frozen=True, kw_only=True)
class ScenarioKind(Generic[S]):
    """How the scenarios of a domain are read: a part of its `robomarl.lab.simulation.Simulation`."""

    scenario: type[S]
    """Frozen dataclass of the keys of a scenario file."""
    check_scenario: Callable[[S, str], None] = lambda scenario, file: None
    """(scenario, its file): raises `UserError` where a key does not fit its vehicle, or another key."""


def domain_for(content: Content, file: str) -> Domain:
    """The domain of a scenario, by the keys of its file.

    Raises:
        UserError: no domain has its task; names the file.
    """
    if not isinstance(content.get("task", None), str):  # the scenario's own check says what is missing
        return domain_named(DEFAULT)
    try:
        return domain_of(content)
    except UserError as error:
        raise UserError(f"{file}: {error}") from None


def kind_for(content: Content, file: str) -> ScenarioKind[Scenario]:
    """How a scenario is read, by the keys of its file; raises `UserError` where no domain has its task."""
    domain = domain_for(content, file)
    return of_kind(domain.simulation, ScenarioKind, f"Domain {domain.name!r}: {domain.simulation_half}")


@overload
def load_scenario(name: str) -> Any: ...
@overload
def load_scenario(name: str, kind: type[S]) -> S: ...
def load_scenario(name: str, kind: type[Scenario] = Scenario) -> Scenario:
    """Read a scenario by name (of `sim/scenarios/`) or by the path of a TOML file, as its domain does.

    Args:
        name: name or path.
        kind: required class, if not every kind of team is allowed.

    Raises:
        UserError: unknown name, bad TOML, a wrong key or value, or another kind of team.
    """
    content, file = read_scenario(name)
    read = kind_for(content, file)
    scenario = build(read.scenario, {"name": Path(name).stem, **content}, file)
    read.check_scenario(scenario, file)
    return of_team_kind(scenario, kind, f"{Path(name).stem}.toml")


def of_team_kind(scenario: Scenario, kind: type[S], file: str) -> S:
    """Return the scenario after a check of its class; raises `UserError` that names its file."""
    if not isinstance(scenario, kind):
        raise UserError(f"{file}: task = {scenario.task!r} is another kind of team's; name another.")
    return scenario


def build_scenario(content: Content, file: str) -> Scenario:
    """The scenario of this content; raises `UserError` where a key or value is wrong, naming the file."""
    newest = migrated(content, SCENARIO_STEPS, file)
    return build(kind_for(newest, file).scenario, newest, file)
