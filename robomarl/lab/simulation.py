"""`Simulation`: the half of a domain that trains, evaluates and rehearses, as the lab floor uses it.

A capability is a class of its own (`Imitated`, `Choices`, `Games`, `Measured`, `Evaluated`): a
domain without it leaves the member None. Type variables: S is the domain's scenario, W its world.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, overload

import numpy as np

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import Picture8
from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.config import UserError
from robomarl.core.domain.base import Domain, of_kind
from robomarl.core.domain.onboard import Content
from robomarl.core.domain.registry import domain_named, domain_of_task, domains
from robomarl.core.filter.params import SafetyParams
from robomarl.core.spec import ActionSpec
from robomarl.core.types import Array, Figures
from robomarl.core.view import LocalView
from robomarl.lab.evaluate.evaluation import EvalRow, FlownPolicy
from robomarl.lab.evaluate.score import TeamScore
from robomarl.lab.plants.flight import Plant
from robomarl.lab.probe import Probe
from robomarl.lab.scene.scene import Staging
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.batch import BatchSim, World
from robomarl.lab.sim.law import Law
from robomarl.lab.sim.model.model import Model
from robomarl.lab.sim.model.scenario import TeamScenario
from robomarl.lab.sim.model.world import TeamWorld
from robomarl.lab.sim.scenario import Scenario, ScenarioKind, domain_for
from robomarl.lab.sim.starts import Starts
from robomarl.lab.train.offline.team_path import Rewarded

S = TypeVar("S", bound=Scenario)
T = TypeVar("T", bound=TeamScenario)
"""A scenario of a domain that is made of a `Model`."""
Told = TypeVar("Told", bound=Scenario, contravariant=True)
"""The scenario that a function is called with."""
W = TypeVar("W")
M = TypeVar("M")
"""Memory of a scripted team."""


class ScriptedPlayers(Protocol[M]):
    """A scripted team."""

    def __call__(self, carry: M, view: LocalView, /) -> tuple[M, Array]:
        """(memory, view [..., N]) -> (memory, commands [..., N, A])."""
        ...


@dataclass(frozen=True)
class Games(Generic[S, M]):
    """Opponents, in domains where two teams play each other."""

    scripts: Mapping[str, tuple[str, ...]]
    """Scripted teams, and the roles that each needs."""
    player: Callable[[S, str], ScriptedPlayers[M]]
    """(scenario, name of a script) -> the scripted team."""
    no_memory: Callable[[Array], M]
    """Zeros [..., N] -> the memory of a script before its first decision."""
    with_rally: Callable[[S, float], S]
    """(scenario, seconds) -> the scenario with episodes of training of this length."""
    rally_steps: Callable[[S], int]
    """Scenario -> decisions of the longest rally; episodes of training start at any age below it."""
    variant: Callable[[S], float]
    """Scenario -> number that tells variants of the game apart, in m if it is a length: it selects one of several
    actors."""
    observed_variant: Callable[[Callable[[str], Array]], Array]
    """(name of an element of the observation -> its values [...]) -> the number as a robot observes it [...]."""
    points: Callable[[Any], tuple[Array, Array]]
    """World [E] of a game that goes on after a point -> points so far of both sides, [E] each, ours first."""
    compiled: Callable[[S], Callable[[int, int], BatchSim]]
    """Scenario -> function (E, seed) -> E whole games side by side on the `fast` engine, compiled once for all."""
    check_script: Callable[[S, str], None] = lambda scenario, name: None
    """(scenario, name of a script) -> nothing; raises `UserError` where a side lacks a role that the script needs."""


@dataclass(frozen=True)
class Imitated(Generic[S, W]):
    """Controller that a policy imitates before it is trained, or that has its gains searched."""

    law: Callable[[S], Callable[[S], Law] | None]
    """Scenario -> the function that makes the controller of a scenario; None where there is none."""
    failed: Callable[[S, W], Array]
    """(scenario, world) -> [E] bool: the episode is over, and later steps are no samples."""
    is_harsh: Callable[[S], bool]
    """True if starts differ widely and the first moments count most."""
    harder: Callable[[S], S]
    """The scenario with further conditions that the controller is to be seen in, such as lost vehicles."""
    errors: Callable[[S, W], tuple[Array, Array]]
    """(scenario, world) -> distance [m] and angle [rad] to the goals, [...] each, which a search of the gains
    minimizes; NaN where there is no such goal."""
    is_late: Callable[[S, W], Array] | None = None
    """(scenario, world) -> [...] bool: a robot of the team has not arrived, which a search of the gains may charge by
    the second; None: no robot of this kind of team arrives anywhere."""


@dataclass(frozen=True)
class Choices:
    """Discrete actions: a policy picks an aim now and then, and a controller pursues it in between."""

    aims: np.ndarray
    """[K, D] the aim of each of K choices."""
    every: int
    """Decisions for which a choice stays."""
    reads: tuple[str, ...]
    """Elements of the observation that the controller reads."""
    pursue: Callable[[Array, Array], tuple[Array, Array]]
    """(observed elements [..., R], aim [..., D]) -> the aim at the next decision, and the command [..., A]."""


@dataclass(frozen=True)
class Measured(Generic[S]):
    """How vehicles are measured: `robomarl identify-limits`."""

    response_parameters: Callable[[S], tuple[str, ...]]
    """Scenario -> parameters of the section `randomize` that change how a vehicle follows its commands, without the
    delay."""
    moves_alike: Callable[[S], Hashable]
    """Scenario -> a value that is equal for scenarios that move a vehicle alike; they are measured once."""
    plant: Callable[[S, int, int, int], Plant]
    """(scenario, flights, seed, threads) -> as many vehicles, each alone."""


class RowOptions(Protocol):
    """Options of `robomarl eval` that the row of one policy depends on."""

    @property
    def scenario(self) -> str | None:
        """Name or file; None: the scenario that the policy was trained for."""
        ...

    @property
    def sim(self) -> str:
        """Engine."""
        ...

    @property
    def episodes(self) -> int:
        """Episodes of each policy."""
        ...

    @property
    def seed(self) -> int:
        """Starts, weather and noise."""
        ...

    @property
    def filter(self) -> str:
        """Mode of the safety filter."""
        ...

    @property
    def perturb(self) -> tuple[str, ...]:
        """Pinned parameters, `NAME=VALUE`, and names of variations."""
        ...

    @property
    def estimator(self) -> tuple[str, ...]:
        """The estimator whose bounds the filter assumes; none: the scenario's."""
        ...

    @property
    def video(self) -> Path | None:
        """File of the film; None: none is made."""
        ...

    @property
    def against(self) -> str:
        """Second team of a game; "": the scenario's opponent."""
        ...


@dataclass(frozen=True)
class Evaluated(Generic[S]):
    """Evaluation of policies: `robomarl eval`, and the choice of the best policy of a run."""

    row: Callable[[str, RowOptions, bool], EvalRow]
    """(policy's name, options, True for the first policy) -> figures of the policy."""
    table: Callable[[list[Figures]], str]
    """Figures of every policy -> the text that is printed."""
    nobody: str
    """The error where no policy is named."""
    score: Callable[[S, float], TeamScore] | None = None
    """(scenario, seconds for which a team is watched after its success) -> the score that counts episodes;
    None: there are matches, and no episodes of one policy.
    """
    mixed_team: Callable[[FlownPolicy, S], FlownPolicy] = lambda policy, scenario: policy
    """(policy, scenario) -> the policy of the whole team, in which the scenario may give single robots another
    controller."""
    film: Callable[..., object] | None = None
    """(log of an episode, scenario, file) writes the film; None: `row` writes it itself."""
    check_film: Callable[[Path], None] = lambda file: None
    """File -> nothing; raises `UserError` where no film can be written of that name. Called before any flight."""


class MakeEnv(Protocol[Told]):
    """How a domain makes its environment; see `robomarl.lab.sim.env.make_env`."""

    def __call__(
        self, scenario: Told, sim: str, weights: dict[str, float] | None, safety: str, starts: Starts | None, /
    ) -> AgentsEnv:
        """(scenario, engine, weights of rewards, mode of the filter, how episodes start) -> environment."""
        ...


class AttackFilter(Protocol[Told]):
    """How a domain attacks the safety filter of its teams."""

    def __call__(
        self, scenario: Told, mode: str, episodes: int, seed: int, sim: str, tell: Callable[[int], object], /
    ) -> Figures:
        """(scenario, mode of the filter, episodes, seed, engine, called with the episodes flown) -> figures."""
        ...


@dataclass(frozen=True, kw_only=True)
class Simulation(ScenarioKind[S], Generic[S, W]):
    """One for each domain; `simulation_of(scenario)` finds it."""

    action: Callable[[S], ActionSpec]
    """Scenario -> the command of a robot."""
    env: MakeEnv[S]
    batch: Callable[[S, str, int, int], BatchSim[W]]
    """(scenario, engine, E, seed) -> E episodes side by side."""
    filter_params: Callable[[S, int], SafetyParams]
    """(scenario, number of teammates that have to be received) -> assumptions of the safety filter."""
    probe: Callable[[S], Probe[S, W]]
    """Scenario -> how its engines are compared."""
    evaluation: Evaluated[S]
    all_seeing: Callable[[S], str] = lambda scenario: ""
    """Scenario -> the key that gives its team information that no robot has, as an error names it; "" for
    none. Such teams are trained for comparison, and never exported.
    """
    controllers: Mapping[str, Callable[[S], FlownPolicy]] = field(default_factory=dict)
    """Policies without training, by name: scenario -> policy."""
    roles: Callable[[S, int], tuple[str, ...]] = lambda scenario, robots: ()
    """(scenario, robots of the largest team) -> the name of each in a bundle that is trained for roles."""
    save_log: Callable[..., object] | None = None
    """(file, log of an episode); None: logs are not kept."""
    model: Model[S] | None = None
    """Model from which all other members were made; None where the domain has simulators of its own."""
    measured: Measured[S] | None = None
    """How its vehicles are measured; None: not at all."""
    rewarded: Rewarded[S] | None = None
    """Rewards of recorded ticks; None: none can be worked out."""
    imitated: Imitated[S, W] | None = None
    choices: Callable[[S], Choices] | None = None
    """Scenario -> the discrete actions that a policy may have instead of commands; None: there are none."""
    games: Games | None = None
    staging: Staging[S, W] | None = None
    """How viewers show its scenarios; None: not at all."""
    attack: AttackFilter[S] | None = None
    """Malicious commands behind the filter; None where no attacks are written."""
    check_certified: Callable[[S, CertificateFigures], None] = lambda scenario, figures: None
    """(scenario, figures of its certificate) -> nothing; raises `UserError` where the certificate does not fit what the
    scenario draws."""
    pictures: Callable[[S, PinholeCamera, int, int], Picture8] | None = None
    """(scenario, camera, K, seed) -> [K, H, W, 3] pictures of robots' cameras from drawn places, by MuJoCo's renderer;
    None: none are drawn."""


@overload
def simulation_of(scenario: T) -> Simulation[T, TeamWorld]: ...
@overload
def simulation_of(scenario: S) -> Simulation[S, World]: ...
def simulation_of(scenario: Scenario) -> Simulation:
    """The half that simulates of the domain that a scenario belongs to; raises `UserError` where there is none."""
    return _simulation(domain_of_task(scenario.task))


def simulation_for(content: Content, file: str) -> Simulation[Scenario, World]:
    """The half that simulates, by the keys of a scenario's file.

    Raises:
        UserError: no domain has its task; names the file.
    """
    return _simulation(domain_for(content, file))


def simulation_named(name: str) -> Simulation[Scenario, World]:
    """The half that simulates of the domain of that name; raises `UserError` where it can't be imported."""
    return _simulation(domain_named(name))


def simulations() -> Iterator[Simulation[Scenario, World]]:
    """Yield the halves that simulate of all domains that have their requirements installed."""
    for domain in domains().values():
        try:
            yield _simulation(domain)
        except UserError:
            continue  # the error is for a caller that asks for this domain by its name


def _simulation(domain: Domain) -> Simulation:
    return of_kind(domain.simulation, Simulation, f"Domain {domain.name!r}: {domain.simulation_half}")
