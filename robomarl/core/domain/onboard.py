"""`Onboard`: a domain's data for generic code on robots and beside them. Numbers and names only, no ROS.

Members that need more than that (nodes, messages, reports) are named by `Later`, and imported when
they are called.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Generic, Literal, Protocol, Self, TypeVar

from robomarl.core.types import Array, Figures, FilterResult
from robomarl.core.view import LocalView

if TYPE_CHECKING:
    from robomarl.core.certificate.tether import Tether
    from robomarl.core.filter.filter import SafetyFilter
    from robomarl.core.filter.give_way import GiveWay
    from robomarl.core.filter.params import SafetyParams
    from robomarl.core.hardware.fleet import Fleet
    from robomarl.core.hardware.vehicle import AnyVehicle

Content = Mapping[str, object]
"""Content of a scenario file, also stored in the contract of a bundle."""
R = TypeVar("R")
"""Result of a function."""
M = TypeVar("M")
"""The memory of a filter."""


@dataclass(frozen=True)
class LazyImport(Generic[R]):
    """A function by the name `module:FUNCTION`, imported when it is first called."""

    name: str

    @cached_property
    def function(self) -> Callable[..., R]:
        """The function itself; raises `ImportError` where something that it needs is not installed."""
        module, _, attribute = self.name.partition(":")
        return getattr(import_module(module), attribute)

    def __call__(self, *args: object, **named: object) -> R:
        """Call it."""
        return self.function(*args, **named)


class Around(Protocol):
    """How commands of one kind go through a filter for acceleration and yaw rate, in numpy and JAX alike."""

    def __call__(
        self, decide: Callable[..., tuple[M, FilterResult]], memory: M, view: LocalView, command: Array, /
    ) -> tuple[M, FilterResult]:
        """(filter for acceleration and yaw rate, its memory, view, command [..., A]) -> (next memory, result)."""
        ...


class Wearing(Protocol):
    """Memory of a certificate with room for that of commands of another kind."""

    @property
    def worn(self) -> tuple[object, ...]:
        """That memory; empty before the first decision."""
        ...

    def _replace(self, *, worn: tuple[object, ...]) -> Self: ...


W = TypeVar("W", bound=Wearing)
"""The memory of a certificate."""


class CertifiedCommand(Protocol):
    """How commands of a kind go through the certificate."""

    params: "SafetyParams"
    """Parameters of the certificate in this place."""
    tether: "Tether | None" = None
    """Limits that a load sets to references; None: robots carry nothing together."""

    def __call__(
        self, decide: Callable[..., tuple[W, FilterResult]], memory: W, view: LocalView, command: Array, /
    ) -> tuple[W, FilterResult]:
        """(filter for acceleration and yaw rate, its memory, view, command [..., A]) -> (next memory, result)."""
        ...

    def seen(self, view: LocalView, led: LocalView) -> LocalView:
        """(view, the same with the robot at its reference) -> the view that policies decide on."""
        return led


def as_it_is(decide: Callable[..., tuple[M, FilterResult]], memory: M, *given: object) -> tuple[M, FilterResult]:
    """Return the decision of a filter for acceleration and yaw rate, for commands of exactly these elements."""
    return decide(memory, *given)


@dataclass(frozen=True)
class Command:
    """One kind of command."""

    elements: tuple[str, ...]
    """Their names, in order, accelerations first."""
    filter: "LazyImport[SafetyFilter]"
    """(params, mode) -> the filter for commands of this kind."""
    around: Around | None = as_it_is
    """How they go through a filter for acceleration and yaw rate, in training and in the graph that holds the filter
    too; None: `filter` needs more than that, there is no such graph, and the domain's environment has a filter of its
    own."""
    certified: "LazyImport[CertifiedCommand] | None" = None
    """(params, content of the scenario) -> how they go through the certificate; None: as acceleration and yaw rate."""
    further: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict[str, tuple[str, tuple[str, ...]]])
    """Unit, and frames that they may be in, of elements that only this kind has, by name."""


@dataclass(frozen=True)
class Node:
    """A further node of a fleet."""

    script: str
    """Console script of the package."""
    module: str
    name: str
    """Name of the node, in the team's namespace."""
    settings: type
    """The dataclass of its parameters."""
    values: Mapping[str, object]
    """Values of the parameters, besides `team`, `base` and `sim`."""


class OperatorSide(Protocol):
    """The operator's side of the nodes that a domain runs besides those of its robots."""

    @property
    def clients(self) -> Sequence["ServiceClient"]:
        """Clients of the services that have to be there before anything begins."""
        ...


class ServiceClient(Protocol):
    """A client of a ROS service."""

    def service_is_ready(self) -> bool:
        """Return True if a node offers the service."""
        ...


def nothing(*args: object) -> None:
    """Do nothing; default of a domain that has nothing to do or to check."""


def no_rights(team: object) -> Mapping[str, object]:
    """Rights of no further node."""
    return {}


def no_nodes(fleet: object, options: object) -> list[Node]:
    """No further nodes."""
    return []


@dataclass(frozen=True)
class Onboard:
    """The half of a domain that robots and their operator import."""

    commands: tuple[Command, ...]
    """Kinds of commands that its robots accept."""
    features: tuple[str, ...] = ()
    """Modules that register features of `robomarl.features` when they are imported."""
    field_task: Callable[..., object] | None = None
    """(scenario, `robomarl.ros.fieldtask.Seat`) -> `robomarl.ros.fieldtask.FieldTask`; None: robots sense nothing but
    themselves."""
    check_robot: "Callable[[Content, AnyVehicle, int], None]" = nothing
    """(scenario, vehicle, robots in the team): raises `UserError` if the robots can't do the task of the
    bundle's training."""
    rules: "Callable[[SafetyParams], GiveWay | None]" = nothing
    """Parameters of the filter -> the rules that break deadlocks before it; None: none."""
    limits: "Callable[[SafetyParams, AnyVehicle, tuple[float, float]], SafetyParams]" = (
        lambda params, vehicle, pitch_m: params
    )
    """(parameters of the robot's filter, vehicle, length and width of the pitch [m] or zeros) -> them, for the
    place."""
    inner_loop: Literal["", "attitude", "torque_inversion"] = ""
    """Control that its commands go to, a kind of `InnerLoop`; "" for any."""
    is_game: bool = False
    """True if two teams play each other; a fleet of this domain then has two teams."""
    check_fleet: "Callable[[Fleet, Content], None]" = nothing
    """(fleet, scenario): raises `UserError` if the fleet does not fit the scenario."""
    check_order: "Callable[[Fleet], None]" = nothing
    """(fleet): checks like `check_fleet`, with the simulator's reader, before the command line flashes or
    starts anything."""
    seat: Callable[[Content], Mapping[str, object]] = lambda content: {}
    """Parameters of a policy node that say where it plays, besides its team and index."""
    graph: Callable[[], object] = nothing
    """() -> `robomarl.ros.topics.NodeGraph`, its topics; None: the usual ones."""
    rights: Callable[..., Mapping[str, object]] = no_rights
    """(`robomarl.ros.enclaves.rights.TeamRights`) -> `Rights` of its further nodes by name; the operator's
    name has the operator's additional rights."""
    sim_node: tuple[str, str] = ("model_node", "robomarl.field.simulated.model_node")
    """Console script and module of the simulator's node."""
    peers: tuple[str, ...] = ()
    """Adapters whose vehicles can be simulated behind their protocol, by an entry point `robomarl.peers`."""
    adapters: Mapping[str, Callable[..., Node]] = field(default_factory=dict[str, Callable[..., Node]])
    """Nodes between the robots' commands and vehicles that only this domain has, by the adapter's name:
    (fleet, `PlanOptions`) -> one node for all."""
    nodes: Callable[..., list[Node]] = no_nodes
    """(fleet, `PlanOptions`) -> further nodes of the fleet."""
    console: Callable[..., OperatorSide | None] = nothing
    """(node, namespace) -> the operator's interface to the further nodes: its `clients` are services that
    have to be there before anything begins; None: there is none."""
    rehearse: Callable[..., Figures | None] = LazyImport[Figures | None]("robomarl.front.cli.flights:rehearse")
    """(fleet, arguments of `robomarl up`) -> figures; None: the nodes are left to the operator."""
