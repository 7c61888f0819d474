"""`Contract`: the content of `bundle.json`, as frozen dataclasses. Floats are at full precision, never rounded."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from robomarl.core.bundle.image_input import ImageInput
from robomarl.core.bundle.provenance import Expert, Source, Training
from robomarl.core.config import Count, Fraction, NonNegative, Positive, Range
from robomarl.core.config.parsed import JsonObject, is_list, number, table_in
from robomarl.core.domain.registry import commands
from robomarl.core.filter.params import SafetyParams
from robomarl.core.hardware.sections import InnerLoop
from robomarl.core.spec import GAIN, NOT_COMMANDED, ActionSpec, ObservationSpec, describe

SCHEMA_VERSION = 2
"""Newest layout of `bundle.json` that this code reads; `migrate` reads the older ones."""

NAME_LENGTH = 100
"""Maximum length of a bundle's name: people read it in terminals and logs."""
COMMANDS = {
    "acceleration": ("m/s^2", ("world", "field")),
    "rate": ("rad/s", ("body",)),
    "yaw_rate": ("rad/s", ("world", "body", "field")),
    "velocity": ("m/s", ("world", "body", "field")),
    GAIN: ("1/s", ("filter",)),
}
"""Commands that a policy may give, by the name before the axis: unit, and allowed frames. Domains add
elements of their own (`robomarl.core.domain.onboard.Command.further`)."""
VECTORS = ("acceleration", "rate", "velocity")
"""Commands that are given by axis, as `rate.x`; all others have no axes."""
PENDING, LEFT = "pending", "left"
"""The policy's memories where a decision has more than one action: those still to come, and how many they are."""

ResetOn = Literal["activate", "hold", "gap"]


@dataclass(frozen=True)
class Element:
    """One element of the observation vector."""

    name: str
    unit: str
    frame: str
    low: float
    """Least value seen in training."""
    high: float
    """Largest value seen in training."""
    mean: float
    """Mean in training; the graph subtracts it."""
    std: NonNegative
    """Standard deviation in training; the graph divides by it."""
    max_age_s: NonNegative | None = None
    """Maximum age [s] of the input that this element is made from; None for inputs that do not age (goals)."""


@dataclass(frozen=True)
class Observation:
    """Spec that builds the observation vector, and the statistics of each element in training."""

    spec: ObservationSpec
    elements: tuple[Element, ...]
    reads: tuple[str, ...]
    """Fields of the view that the policy depends on, dotted; no other changes the action."""

    def __post_init__(self) -> None:
        """Check that this version of robomarl builds the vector that the policy was trained on."""
        here = [(name, unit, frame) for name, unit, frame, _ in describe(self.spec)]
        there = [(e.name, e.unit, e.frame) for e in self.elements]
        if len(here) != len(there):
            raise ValueError(f"elements has {len(there)} entries, but the spec's fields make {len(here)}.")
        for i, (ours, theirs) in enumerate(zip(here, there, strict=True)):
            if ours != theirs:
                raise ValueError(f"elements[{i}] is {' '.join(theirs)!r} in the bundle and {' '.join(ours)!r} here.")
        if frozenset(self.reads) != self.spec.reads:
            raise ValueError(
                f"reads differs from what the fields read here: {sorted(self.spec.reads ^ set(self.reads))}."
            )


@dataclass(frozen=True)
class Carry:
    """One array of memory that is passed from decision to decision."""

    owner: Literal["observation", "policy", "safety"]
    """Owner of the memory: the observation's histories, the network or the safety filter."""
    name: str
    """For the network: the graph's input is `carry.NAME`, its output `next.NAME`."""
    shape: tuple[Annotated[int, Range(0)], ...]
    """Without leading batch axes."""
    reset_on: tuple[ResetOn, ...] = ("activate", "hold", "gap")
    """When it starts again from its initial value."""
    max_gap_s: Positive = 0.1
    """A longer time between two decisions is a gap."""


@dataclass(frozen=True)
class Conventions:
    """Conventions of all numbers in the bundle. This code supports no other values."""

    world: Literal["ENU"] = "ENU"
    """East, north, up: z against gravity."""
    body: Literal["FLU"] = "FLU"
    """Forward, left, up; angular velocities are in it."""
    quaternion: Literal["wxyz"] = "wxyz"
    """Order of every quaternion that the policy's inputs are made from."""
    angle: Literal["rad"] = "rad"


@dataclass(frozen=True)
class Seen:
    """Statistics of one action element in training."""

    low: float
    high: float
    mean: float
    std: NonNegative


@dataclass(frozen=True)
class RadioContract:
    """How team-mates were heard in training."""

    rate_hz: Positive
    """Messages of each robot per second."""
    latency_s: NonNegative
    loss: tuple[Fraction, Fraction]
    """Least and largest share of messages that were lost."""


@dataclass(frozen=True)
class FileEntry:
    """Expected hash and size of a file in the bundle."""

    sha256: str
    size: Annotated[int, Range(0)]
    """Bytes."""


@dataclass(frozen=True)
class Contract:
    """Everything that a robot has to know about a policy before it runs it."""

    schema_version: Annotated[int, Range(1, SCHEMA_VERSION)]
    name: str
    observation: Observation
    action: ActionSpec
    rate_hz: Positive
    """Actions per second: how often a robot calls the policy."""
    team_size: tuple[Count, Count]
    """Least and largest number of robots in a team."""
    carries: tuple[Carry, ...]
    scenario: Source
    vehicle: Source
    safety: SafetyParams
    """Safety parameters with which the policy was shown to be safe; a robot may be stricter."""
    training: Training
    files: dict[str, FileEntry]
    """Every other file of the bundle."""
    sim_hz: Positive
    """Physics steps per second in training."""
    radio: RadioContract
    randomization: dict[str, object]
    """Ranges of the vehicle's and the world's parameters in training. The policy is meant for these ranges only."""
    roles: tuple[str, ...] = ()
    """Names of the roles by number; empty where all robots are alike."""
    neighbour_order: Literal["nearest_first"] = "nearest_first"
    """Order of the teammates in the observation; missing ones are zeros, at the end."""
    conventions: Conventions = Conventions()
    actions_seen: tuple[Seen, ...] = ()
    """Statistics of every action element in the golden sequences; empty in bundles of schema_version 1."""
    decision_hz: Positive | None = None
    """Decisions per second; None: one per action. Each decision is a sequence of actions, played at
    `rate_hz`. Actions still to come are in the policy's memory `pending`, their number is in `left`."""
    experts: tuple[Expert, ...] = ()
    """Actors in the graph beside the one of `scenario`; see `robomarl.lab.train.run.mixture`."""
    inner_loop: InnerLoop | None = None
    """Control under its commands in training; None in bundles that are older than the key."""
    image: ImageInput | None = None
    """Picture that its robots see; None for a policy that reads none."""

    def __post_init__(self) -> None:
        """Check the keys against each other."""
        if not (self.name.strip() and self.name.isprintable() and len(self.name) <= NAME_LENGTH):
            raise ValueError(f"name must be one line of 1 to {NAME_LENGTH} printable characters.")
        if self.team_size[0] > self.team_size[1]:
            raise ValueError(f"team_size = {list(self.team_size)} must be [least, largest].")
        if abs(self.rate_hz * self.safety.period_s - 1) > 1e-9:
            raise ValueError(f"rate_hz = {self.rate_hz:g} does not fit safety.period_s = {self.safety.period_s:g}.")
        _check_conditions(self)
        _check_sequences(self)
        check_action(self.action)

    @property
    def policy_carries(self) -> tuple[Carry, ...]:
        """The network's memory, in the order of the graph's inputs."""
        return tuple(c for c in self.carries if c.owner == "policy")

    @property
    def actions_each(self) -> int:
        """Actions of one decision."""
        return round(self.rate_hz / (self.decision_hz or self.rate_hz))


def _check_conditions(contract: Contract) -> None:
    """Compare values that the contract states twice.

    Raises:
        ValueError: the two differ.
    """
    content = contract.scenario.content
    if contract.randomization != content.get("randomize", {}):
        raise ValueError("randomization is not that of the scenario's content.")
    rates = table_in(content, "rates") if "rates" in content else {}
    if (policy_hz := number(rates.get("policy_hz", contract.rate_hz), "policy_hz")) != contract.rate_hz:
        raise ValueError(f"rate_hz = {contract.rate_hz:g} is not the scenario's policy_hz = {policy_hz:g}.")
    if contract.actions_seen and len(contract.actions_seen) != contract.action.size:
        count = len(contract.actions_seen)
        raise ValueError(f"actions_seen has {count} entries for {contract.action.size} actions.")
    check_roles(contract.roles, contract.team_size[1])


def check_roles(roles: tuple[str, ...], most: int) -> None:
    """Check the names of roles for teams of up to `most` robots.

    Raises:
        ValueError: there are too few, or two are equal.
    """
    if roles and len(roles) < most:
        raise ValueError(f"roles names {len(roles)} roles for teams of up to {most}.")
    if len(set(roles)) < len(roles):
        raise ValueError(f"roles has a name twice: {', '.join(roles)}; give each its own.")


def _known_commands() -> dict[str, tuple[str, tuple[str, ...]]]:
    further = (command.further for command in commands())
    return {name: kind for known in (COMMANDS, *further) for name, kind in known.items()}


def _check_sequences(contract: Contract) -> None:
    """Check that a policy that decides more rarely than it acts has memory for the actions still to come.

    Raises:
        ValueError: names the key.
    """
    count, size = contract.actions_each, contract.action.size
    if count < 1 or abs(contract.rate_hz - count * (contract.decision_hz or contract.rate_hz)) > 1e-6:
        raise ValueError(f"decision_hz = {contract.decision_hz:g} must divide rate_hz = {contract.rate_hz:g}.")
    wanted = {PENDING: (count - 1, size), LEFT: (1,)} if count > 1 else {}
    found = {c.name: c.shape for c in contract.policy_carries if c.name in (PENDING, LEFT)}
    if found != wanted:
        raise ValueError(f"carries {found} of the policy do not fit {count} actions a decision, which need {wanted}.")
    if [c.name for c in contract.policy_carries[: len(wanted)]] != list(wanted):
        raise ValueError(f"carries of the policy must begin with {' and '.join(wanted)}, in this order.")


def command_names() -> list[str]:
    """Every element that a policy may command."""
    return [n for name in _known_commands() for n in ([f"{name}.{a}" for a in "xyz"] if name in VECTORS else [name])]


def check_action(action: ActionSpec) -> None:
    """Check the names, the order of vectors and the units: an exchanged axis is a lost robot.

    Raises:
        ValueError: names the element.
    """
    if len({f.name for f in action.fields}) != action.size:
        raise ValueError("action.fields has two fields with one name.")
    for i, field in enumerate(action.fields):
        base, _, axis = field.name.rpartition(".")
        if field.name not in command_names():
            raise ValueError(f"action.fields[{i}]: {field.name!r} is not known; allowed: {', '.join(command_names())}.")
        unit, frames = _known_commands()[base or field.name]
        if field.unit != unit or field.frame not in frames:
            raise ValueError(f"action.fields[{i}]: {field.name} must be in {unit}, in the frame {' or '.join(frames)}.")
        if not -math.inf < field.low < field.high < math.inf:
            told = f"action.fields[{i}]: {field.name} goes from {field.low:g} to {field.high:g}"
            raise ValueError(
                f"{told}; its least value must be below its largest, {NOT_COMMANDED:g} below and above 0 "
                "where a vehicle is not commanded so."
            )
        before = action.fields[i - 1].name if i else ""
        if base and before != f"{base}.{chr(ord(axis) - 1)}" and axis != "x":
            raise ValueError(f"action.fields[{i}]: {field.name} must come behind {base}.{chr(ord(axis) - 1)}.")


class ContractConditions(TypedDict):
    """Fields of `Contract`."""

    sim_hz: float
    radio: RadioContract
    randomization: dict[str, object]


def conditions(scenario: JsonObject) -> ContractConditions:
    """The fields of `Contract` that a scenario's content says: sim_hz, radio, randomization.

    Raises:
        KeyError, TypeError: it does not say them.
    """
    rates, radio = table_in(scenario, "rates"), table_in(scenario, "radio")
    ranges = table_in(scenario, "randomize") if "randomize" in scenario else {}
    loss = ranges.get("packet_loss", (0.0, 0.0))
    low, high = [number(share, "packet_loss") for share in loss] if is_list(loss) else []
    # Every decision is told to all.
    contract = RadioContract(
        number(rates["policy_hz"], "policy_hz"), number(radio["latency_s"], "latency_s"), (low, high)
    )
    return {"sim_hz": number(rates["physics_hz"], "physics_hz"), "radio": contract, "randomization": ranges}
