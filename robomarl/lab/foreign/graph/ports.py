"""Identification of observation, action and memory among an ONNX graph's inputs and outputs, by name.

The position in a list says nothing: exporters write values, deviations and reference motions behind
the action, and a value has the shape of a counter. If the names are not clear, the contract
decides, or the file is rejected.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import onnx

from robomarl.core.config import UserError
from robomarl.lab.foreign.contract_file import ContractFile
from robomarl.lab.onnx_graph import ancestors

COUNTER, ZERO = "+1", "0"
"""Words of the contract for a counter, and for an input that stays zero."""
OBSERVATIONS = frozenset("obs observation observations policy policy_obs input inputs x obs_0 vector".split())
ACTIONS = frozenset(
    "action actions mu mean mean_action mean_actions continuous_actions deterministic_continuous_actions".split()
)
COUNTERS = frozenset("time_step timestep time_steps timesteps step_count".split())
_OF_INPUTS = frozenset("in ins input inputs prev previous last old init initial carry".split())
_OF_OUTPUTS = frozenset("out outs output outputs next new updated".split())
_STATES = {"h0": "h", "c0": "c", "hn": "h", "cn": "c"}


@dataclass(frozen=True)
class Ports:
    """Names of the graph's inputs and outputs by their use."""

    observation: str
    action: str
    memory: dict[str, str]
    """For each input that is memory the output that it becomes, or `COUNTER`."""
    zeros: tuple[str, ...]
    """Inputs that stay zero: the contract says so, or nothing that counts depends on them."""


def find_ports(model: onnx.ModelProto, contract: ContractFile, where: str) -> Ports:
    """Identify each input and output.

    Args:
        model: the file.
        contract: may name the observation, the action and the memory.
        where: the file, for errors.

    Raises:
        UserError: a name that does not exist, or inputs or outputs without a meaning by their names or
            by the contract.
    """
    weights = {t.name for t in model.graph.initializer}
    inputs = [i.name for i in model.graph.input if i.name not in weights]
    outputs = [o.name for o in model.graph.output]
    _check_declared(contract, inputs, outputs, where)
    pairs = {**_by_name(inputs, outputs), **contract.memory}
    observation = contract.observation.input or _observation(inputs, pairs, where)
    pairs = {name: becomes for name, becomes in pairs.items() if name != observation}
    action = contract.action.output or _action(outputs, {*pairs.values()}, where)
    _check_no_state_is_lost(outputs, action, pairs, where)
    needed = _needed(model, action, pairs)
    open_inputs = [name for name in inputs if name != observation and name not in pairs and name in needed]
    if open_inputs:
        raise UserError(
            f"{where}: the inputs {', '.join(open_inputs)} are memory, but the outputs have none that goes with them "
            f"by name ({', '.join(outputs)}); export both, or say what each becomes in the contract, under [memory]: "
            f'{open_inputs[0]} = the name of an output, "{COUNTER}" for a counter, or "{ZERO}" if it stays zero.'
        )
    memory = {name: pairs[name] for name in inputs if name in pairs and name in needed and pairs[name] != ZERO}
    zeros = tuple(name for name in inputs if name != observation and name not in memory)
    return Ports(observation, action, memory, zeros)


def _needed(model: onnx.ModelProto, action: str, pairs: Mapping[str, str]) -> set[str]:
    """Values that the action depends on, now or through memory."""
    wanted = {action}
    while True:
        found = ancestors(model, wanted)
        more = {becomes for name, becomes in pairs.items() if name in found and becomes not in (COUNTER, ZERO)}
        if more <= wanted:
            return found
        wanted |= more


def _by_name(inputs: list[str], outputs: list[str]) -> dict[str, str]:
    """Pair inputs and outputs with names that differ only in the word for in or out; find counters."""
    pairs = {}
    for name in inputs:
        if name.lower() in OBSERVATIONS:
            continue
        stem = _stem(name, _OF_INPUTS)
        partners = [o for o in outputs if stem and _stem(o, _OF_OUTPUTS) == stem and o.lower() not in ACTIONS]
        rivals = [i for i in inputs if _stem(i, _OF_INPUTS) == stem]
        if len(partners) == len(rivals) == 1:
            pairs[name] = partners[0]
        elif not partners and name.lower() in COUNTERS:
            pairs[name] = COUNTER
    return pairs


def _stem(name: str, words: frozenset[str]) -> tuple[str, ...]:
    """Words of a name without those that say in or out: `state_in_h`, `h_in`, `nextHidden`, `h0`."""
    parts = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())
    return tuple(_STATES.get(part, part) for part in parts if part and part not in words)


def _observation(inputs: list[str], pairs: Mapping[str, str], where: str) -> str:
    free = [name for name in inputs if name not in pairs]
    known = [name for name in free if name.lower() in OBSERVATIONS]
    for names in (free, known):
        if len(names) == 1:
            return names[0]
    raise UserError(
        f"{where}: which of its inputs is the observation can't be told from their names ({', '.join(inputs)}); "
        "say so in the contract: [observation] input = NAME."
    )


def _action(outputs: list[str], memory: set[str], where: str) -> str:
    free = [name for name in outputs if name not in memory]
    known = [name for name in free if name.lower() in ACTIONS]
    for names in (free, known):
        if len(names) == 1:
            return names[0]
    raise UserError(
        f"{where}: which of its outputs is the action can't be told from their names ({', '.join(outputs)}); "
        "say so in the contract: [action] output = NAME."
    )


def _check_no_state_is_lost(outputs: list[str], action: str, pairs: Mapping[str, str], where: str) -> None:
    """Raises `UserError` for an output that is called a state, and which no input takes."""
    for name in outputs:
        words = {*re.split(r"[^a-z0-9]+", name.lower())}
        is_state = words & {"hidden", "state", "states", "memory", "h", "c", "hn", "cn", "recurrent"}
        if name != action and name not in pairs.values() and words & (_OF_OUTPUTS | {"hn", "cn"}) and is_state:
            raise UserError(
                f"{where}: the output {name} is memory by its name, but no input takes it; export its input too, or "
                f"say in the contract, under [memory], which one does: INPUT = {name!r}."
            )


def _check_declared(contract: ContractFile, inputs: list[str], outputs: list[str], where: str) -> None:
    """Raises `UserError` for names in the contract that the file does not have, or one output for two inputs."""
    asked = [
        ("observation.input", contract.observation.input, inputs),
        ("action.output", contract.action.output, outputs),
    ]
    for name, becomes in contract.memory.items():
        asked += [("memory", name, inputs), (f"memory.{name}", becomes, [*outputs, COUNTER, ZERO])]
    for key, name, there in asked:
        if name and name not in there:
            raise UserError(f"{where}: the contract's {key} names {name!r}, but the file has {', '.join(there)}.")
    taken = [becomes for becomes in contract.memory.values() if becomes not in (COUNTER, ZERO)]
    if twice := {name for name in taken if taken.count(name) > 1}:
        raise UserError(f"{where}: the contract's memory gives the output {min(twice)} to two inputs; name it once.")
