"""`Simulation`: the half of a domain that trains, evaluates and rehearses, as generic code uses it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from robomarl.core.types import Figures


@dataclass(frozen=True)
class Games:
    """Members that only domains with two teams have, about the learner's opponents."""

    scripts: Mapping[str, tuple[str, ...]]
    """Scripted teams, and the roles that each needs."""
    player: Callable[[Any, str], Any]
    """(scenario, script) -> a team, as a function (memory, views [..., N]) -> (memory, commands [..., N, A])."""
    no_memory: Callable[[Any], Any]
    """Zeros [..., N] -> the memory of a script before its first decision."""
    with_rally: Callable[[Any, float], Any]
    """(scenario, seconds) -> the scenario with training episodes that end after this time."""
    length_m: Callable[[Any], float]
    """Scenario -> length of the pitch, which says which of several actors decides there."""
    half_length: tuple[str, ...]
    """Elements of the observation that add up to half the length of the pitch, independent of the error of
    the own pose.
    """


@dataclass(frozen=True)
class Imitated:
    """Controller that a policy may imitate before it is trained, or be, after a search of the controller's gains."""

    law: Callable[[Any], Any]
    """Scenario -> factory that makes the controller from the scenario; None if there is none."""
    failed: Callable[[Any, Any], Any]
    """(scenario, world) -> [E] bool: the episode is over, and teaches nothing more."""
    is_harsh: Callable[[Any], bool]
    """Scenario -> True if every start differs and the first moments count most."""
    harder: Callable[[Any], Any]
    """Scenario -> the scenario with further conditions in which the controller is to be seen, as vehicles
    that are lost.
    """
    errors: Callable[[Any, Any], Any]
    """(scenario, world) -> distance [m] and angle [rad], [...] each, between where things are and where they shall be,
    which a search of the controller's gains makes small; NaN where nothing is wanted."""


@dataclass(frozen=True)
class Choices:
    """Discrete actions: a policy picks one at intervals, and in between a controller pursues its aim."""

    aims: Any
    """[K, D] aim of each of K choices."""
    every: int
    """Decisions for which a choice stays."""
    reads: tuple[str, ...]
    """Elements of the observation that the controller reads."""
    pursue: Callable[[Any, Any], tuple[Any, Any]]
    """(observed elements [..., R], aim [..., D]) -> the aim at the next decision, and the command [..., A]."""


@dataclass(frozen=True)
class Measured:
    """How vehicles are measured: `robomarl identify-limits`."""

    response_parameters: Callable[[Any], tuple[str, ...]]
    """Scenario -> parameters of the section `randomize` that change how a vehicle follows its commands, the delay left
    out."""
    moves_alike: Callable[[Any], Any]
    """Scenario -> value that is equal for all scenarios that move a vehicle alike, which are measured once."""
    plant: Callable[[Any, int, int, int], Any]
    """(scenario, flights, seed, threads) -> `robomarl.lab.plants.flight.Plant`."""


@dataclass(frozen=True)
class Simulation:
    """Simulation half of one domain; `simulation_of(scenario)` finds it. World is the domain's own type of
    world state.
    """

    scenario: type
    """Frozen dataclass of the keys of a scenario file, a `Clock`."""
    action: Callable[[Any], Any]
    """Scenario -> `ActionSpec` of the robots' commands."""
    env: Callable[..., Any]
    """(scenario, sim, weights, safety, starts) -> `AgentsEnv`; see `robomarl.lab.sim.env.make_env`."""
    batch: Callable[[Any, str, int, int], Any]
    """(scenario, engine, E, seed) -> `BatchSim`."""
    filter_params: Callable[[Any, int], Any]
    """(scenario, number of teammates that have to be received) -> `SafetyParams`: assumptions of the safety filter."""
    probe: Callable[[Any], Any]
    """Scenario -> `robomarl.lab.sim.probe.Probe`: how its engines are compared."""
    evaluation: "Evaluated"
    all_seeing: Callable[[Any], str] = lambda scenario: ""
    """Scenario -> the key that gives its team information that no robot has, as an error names it; "" for
    none. Such teams are trained for comparison, and never exported.
    """
    check_scenario: Callable[[Any, str], None] = lambda scenario, file: None
    """(scenario, its file): raises `UserError` if the scenario contradicts its vehicle, or itself."""
    controllers: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """Policies that are not trained, by name: scenario -> policy."""
    roles: Callable[[Any, int], tuple[str, ...]] = lambda scenario, robots: ()
    """(scenario, robots of the largest team) -> name of each robot's role in a bundle that is trained for roles."""
    save_log: Callable[[Any, Any], Any] | None = None
    """(file, log of an episode); None: logs are not kept."""
    model: Any = None
    """`robomarl.lab.sim.model.Model`, of which all else was made; None where the domain has simulators of its own."""
    measured: Measured | None = None
    """How its vehicles are measured; None: not at all."""
    rewarded: Any = None
    """`robomarl.lab.train.offline.team_path.Rewarded`: rewards of recorded ticks; None: none can be worked out."""
    imitated: Imitated | None = None
    choices: Callable[[Any], Choices] | None = None
    """Scenario -> the discrete actions that a policy may have instead of commands; None: there are none."""
    games: Games | None = None
    attack: Callable[..., Figures] | None = None
    """See `robomarl.domains.flight.lab.safety.attack.attack_all`; None where no attacks are written."""


@dataclass(frozen=True)
class Evaluated:
    """Evaluation of policies, used by `robomarl eval` and by the code that picks the best policy."""

    row: Callable[[str, Any, bool], Any]
    """(policy's name, options of `robomarl eval`, whether it is the first) -> `EvalRow`."""
    table: Callable[[list[Figures]], str]
    nobody: str
    """The error where no policy is named."""
    score: Callable[[Any, Any], Any] | None = None
    """(scenario, `EvalConfig`) -> `robomarl.lab.evaluate.score.TeamScore`; None: there are matches, and no episodes of
    one policy."""
    mixed_team: Callable[[Any, Any], Any] = lambda policy, scenario: policy
    """(policy, scenario) -> what moves the robots, where some of them are not the policy's."""
    film: Callable[[Any, Any, Any], Any] | None = None
    """(log, scenario, file): write a film; None: `row` does all drawing itself."""
    check_film: Callable[[Any], None] = lambda file: None
    """File -> nothing; raises `UserError` where no film can be written of that name. Called before any flight."""
