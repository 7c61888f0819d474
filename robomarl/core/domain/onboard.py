"""`Onboard`: what generic code on robots and beside them has to know of a domain. Numbers and names only, no ROS.

What needs more than that (nodes, messages, reports) is named by `LazyImport`, and imported when it is called.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

Content = Mapping[str, Any]
"""What a scenario file says, as the contract of a bundle has it too."""


@dataclass(frozen=True)
class LazyImport:
    """A function by the name `module:FUNCTION`, imported when it is first called."""

    name: str

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function itself; raises `ImportError` where something that it needs is not installed."""
        module, _, attribute = self.name.partition(":")
        return getattr(import_module(module), attribute)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Call it."""
        return self.function(*args, **named)


def as_it_is(decide: Callable[..., Any], *given: Any) -> Any:
    """What a filter for acceleration and yaw rate decides, for commands that are just that."""
    return decide(*given)


@dataclass(frozen=True)
class Command:
    """One kind of command."""

    elements: tuple[str, ...]
    """Their names, in order, accelerations first."""
    filter: LazyImport
    """(params, mode, ...) -> the filter for commands of this kind; as `SafetyFilter`."""
    around: Callable[..., Any] | None = as_it_is
    """(filter for acceleration and yaw rate, memory, view, command) -> (memory, result) for commands of this kind, in
    numpy and JAX alike: for training and for the graph that holds the filter too; None: `filter` needs more than that,
    there is no such graph, and the domain's environment has a filter of its own."""
    further: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """Unit, and frames that they may be in, of elements that only this kind has, by name."""


@dataclass(frozen=True)
class Node:
    """A further node of a fleet."""

    script: str
    """Console script of the package."""
    module: str
    name: str
    """Of the node, in the team's namespace."""
    settings: type
    """The dataclass of its parameters."""
    values: dict[str, Any]
    """What they are, besides `team`, `base` and `sim`."""


def nothing(*args: Any) -> None:
    """What a domain does that has nothing to do, or nothing to check."""


@dataclass(frozen=True)
class Onboard:
    """The half of a domain that robots and their operator import."""

    commands: tuple[Command, ...]
    """What its robots may be commanded by."""
    features: tuple[str, ...] = ()
    """Modules that register features of `robomarl.features` when they are imported."""
    field_task: Callable[[Content, Any], Any] | None = None
    """(scenario, `Seat`) -> `robomarl.ros.fieldtask.FieldTask`; None: robots sense nothing but themselves."""
    check_robot: Callable[[Content, str, int], None] = nothing
    """(scenario, vehicle, robots in the team): raises `UserError` where they can't do what a bundle was trained for."""
    rules: Callable[[Any], Any] = nothing
    """(`SafetyParams`) -> `robomarl.core.filter.give_way.GiveWay`, which breaks deadlocks before the filter; None:
    none."""
    limits: Callable[[Any, Any, tuple[float, float]], Any] = lambda params, vehicle, pitch_m: params
    """(`SafetyParams` of the robot, vehicle, length and width of the pitch [m] or zeros) -> them, for the place."""
    is_game: bool = False
    """Two teams play each other: a fleet of it has two."""
    check_fleet: Callable[[Any, Content], None] = nothing
    """(fleet, scenario): raises `UserError` where the fleet is not what the scenario is for."""
    check_order: Callable[[Any], None] = nothing
    """(fleet): the same with the simulator's reader, before the command line flashes or starts anything."""
    seat: Callable[[Content], dict[str, Any]] = lambda content: {}
    """Parameters of a policy node that say where it plays, besides its team and index."""
    graph: Callable[[], Any] = nothing
    """() -> `robomarl.ros.topics.NodeGraph`, its topics; None: the usual ones."""
    rights: Callable[[Any], dict[str, Any]] = lambda team: {}
    """(`robomarl.ros.enclaves.rights.TeamRights`) -> `Rights` of its further nodes by name, and under the
    operator's name what the operator has besides."""
    sim_node: tuple[str, str] = ("model_node", "robomarl.field.simulated.model_node")
    """Console script and module of the simulator's node."""
    peers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The same by adapter: simulators whose vehicles are spoken to as real ones are."""
    adapters: Mapping[str, Callable[[Any, Any], Node]] = field(default_factory=dict)
    """By name, what stands between its robots' commands and vehicles that only they have: (fleet, `PlanOptions`) ->
    one node for all."""
    nodes: Callable[[Any, Any], list[Node]] = lambda fleet, options: []
    """(fleet, `PlanOptions`) -> what runs besides."""
    console: Callable[[Any, str], Any] = nothing
    """(node, namespace) -> the operator's side of what runs besides: its `clients` are services that have to be there
    before anything begins; None: there is none."""
    rehearse: Callable[[Any, Any], dict[str, Any] | None] = LazyImport("robomarl.front.cli.flights:rehearse")
    """(fleet, arguments of `robomarl up`) -> figures; None: the nodes are left to the operator."""
