"""The files of a bundle."""

from dataclasses import replace

from robomarl.core.bundle import golden
from robomarl.core.bundle.bundle import (
    CARD_FILE,
    CONTRACT_FILE,
    FILTERED_FILE,
    GOLDEN_FILE,
    POLICY_FILE,
    entry_of,
    seal,
)
from robomarl.core.bundle.contract import Contract
from robomarl.lab.export.facts import Facts
from robomarl.lab.export.filtered import Shapes, filtered_function
from robomarl.lab.export.graph import ArrayFunction, to_onnx
from robomarl.lab.export.model_card import model_card
from robomarl.lab.export.record import Recorded
from robomarl.lab.train.initial.weights_file import to_npz, without_critics

WEIGHTS_FILE = "weights.npz"
"""Name of the weights file for `train --init`; `robomarl.lab.train.run.run_folder.read_weights` reads it."""


def bundle_files(facts: Facts, contract: Contract, recorded: Recorded) -> dict[str, bytes]:
    """Return the content of every file of a bundle.

    Args:
        facts: of the run.
        contract: its contract, without files.
        recorded: its golden sequences.
    """
    run, functions = facts.run, graph_functions(facts, contract)
    graphs = {file: to_onnx(*function) for file, function in functions.items()}
    command = golden.filtered(contract, recorded.views, recorded.action)
    sequences = golden.Golden(recorded.views, recorded.obs, recorded.action, command)
    files = {
        POLICY_FILE: graphs[POLICY_FILE],
        GOLDEN_FILE: golden.to_bytes(sequences),
        CARD_FILE: model_card(contract).encode(),
    }
    if run.weights:
        weights = without_critics(run.weights) if run.experts else run.weights
        files[WEIGHTS_FILE] = to_npz(weights, files[POLICY_FILE])
    files = {**files, **graphs, **facts.origin.files}  # the order is part of the bundle's id
    entries = {path: entry_of(data) for path, data in files.items()}
    return {**files, CONTRACT_FILE: seal(replace(contract, files=entries))}


def graph_functions(facts: Facts, contract: Contract) -> dict[str, ArrayFunction]:
    """Return the functions that become graphs, by file: the policy, and the policy behind the filter."""
    shapes = Shapes(contract.observation.spec.size, contract.team_size[1] - 1, facts.memory)
    functions = {POLICY_FILE: policy_function(facts, contract.observation.spec.size)}
    if has_graph(facts):
        around = facts.command.around
        functions[FILTERED_FILE] = filtered_function(facts.run.policy_fn, shapes, contract.safety, around)  # type: ignore[arg-type]
    return functions


def has_graph(facts: Facts) -> bool:
    """Return True if the filter has a graph: no strangers to sense, and a kind of command that supports it."""
    return facts.safety.strangers is None and facts.command.around is not None


def policy_function(facts: Facts, num_obs: int) -> ArrayFunction:
    """Return a run's policy as a function of arrays: obs, carry.NAME, ... -> action, next.NAME, ..."""

    def flat(obs, *carry):
        carry, action = facts.run.policy_fn(tuple(carry), obs)
        return (action, *carry)

    inputs = {"obs": (num_obs,), **{f"carry.{name}": shape for name, shape in facts.memory.items()}}
    return ArrayFunction(flat, inputs, ["action", *(f"next.{name}" for name in facts.memory)])
