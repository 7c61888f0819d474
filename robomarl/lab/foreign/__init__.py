"""Import of foreign policies as sealed bundles: ONNX, TorchScript, and checkpoints of seven trainers.

The computation of a file is rewritten in JAX, with the wiring of its `contract.toml` around it.
From there on it is exported like a run: golden flights in the scenario, equal graph operators,
equal checks. Nothing is written unless the sealed bundle reproduces the outputs of the file's own
framework.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.core.config import UserError, to_dict
from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.lab.export import export_bundle
from robomarl.lab.export.facts import facts_of
from robomarl.lab.export.folder import check_target
from robomarl.lab.export.record import record
from robomarl.lab.foreign.checkpoint.guard import library_errors
from robomarl.lab.foreign.checkpoint.kinds import KINDS, kind_of
from robomarl.lab.foreign.contract_file import ContractFile, check_keys, read_contract_file
from robomarl.lab.foreign.parity import check_rounding, parity
from robomarl.lab.foreign.policy import ForeignPolicy, Wiring, deployed, wire
from robomarl.lab.foreign.run import ImportedRun, ImportRecipe, SeenStats, stats_of
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario

__all__ = ["import_bundle"]

MAX_BYTES = 256 * 2**20
"""Larger files are no policies of small robots."""


def import_bundle(
    file: str | Path, contract_file: str | Path, out_dir: str | Path, name: str = ""
) -> tuple[Bundle, float]:
    """Make a bundle of a policy that was trained with another framework.

    Args:
        file: ONNX, TorchScript, or a state dict as a PyTorch checkpoint or safetensors.
        contract_file: facts that the file does not state; see `ContractFile`.
        out_dir: the bundle's folder, as in `export_bundle`.
        name: name of the bundle; by default that of its folder.

    Returns:
        The bundle, and its largest difference from the file's own framework on random observations.

    Raises:
        UserError: an error in the file or in the contract, by key; or bundle and file compute different
            commands. Nothing has been written then.
    """
    source, toml, target = Path(file), Path(contract_file), Path(out_dir)
    check_target(target)
    contract = read_contract_file(toml)
    scenario = load_scenario(_beside(toml, contract.scenario))
    env = make_env(scenario)
    spec = observation_spec(contract, env.observation)
    wiring = wire(contract, str(toml), spec, env.action)
    foreign = read_policy(source, contract, toml.parent)
    check_sizes(foreign, wiring, source, toml)
    check_rounding(foreign, wiring, str(source))
    run = ImportedRun(
        name=name or target.name,
        scenario=scenario,
        config=recipe(source, contract, foreign),
        observation=spec,
        policy_fn=deployed(foreign, wiring),
        init_carry=tuple(np.zeros(shape, np.float32) for shape in foreign.memory),
        observation_stats=SeenStats(*(np.zeros(spec.size),) * 4),
    )
    recorded = record(facts_of(run))
    found: list[float] = []
    bundle = export_bundle(
        replace(run, observation_stats=stats_of(recorded)),
        target,
        finish=lambda folder: found.append(parity(load_bundle(folder), foreign, wiring)),
        recorded=recorded,
    )
    return bundle, found[0]


def read_policy(file: Path, contract: ContractFile, beside: Path = Path()) -> ForeignPolicy:
    """Read a policy by the kind of its file, regardless of the file name.

    Args:
        file: the file.
        contract: facts that the file does not state.
        beside: folder of the contract; its paths are relative to this folder.

    Raises:
        UserError: no such file, an unknown kind, or an error of the reader of its kind.
    """
    if not file.exists():
        raise UserError(f"{file}: there is no such file; name one of {KINDS}.")
    with library_errors(f"{file}: can't be read", "fetch the file again, or save it anew"):
        kind = kind_of(file)
        if file.stat().st_size > MAX_BYTES:
            raise UserError(f"{file}: is over {MAX_BYTES >> 20} MiB; it is no policy of a robot.")
        check_keys(contract, kind, file)
        if kind == "onnx":
            from robomarl.lab.foreign.onnx_file import read_onnx

            return read_onnx(file, contract)
        if kind == "torchscript":
            from robomarl.lab.foreign.torchscript import read_torchscript

            return read_torchscript(file)
    return read_layers(file, kind, contract, beside)


def read_layers(file: Path, kind: str, contract: ContractFile, beside: Path) -> ForeignPolicy:
    """Return the policy of a state dict with the layout that the contract names; arguments as
    `read_policy` and `kind_of`.

    Raises:
        UserError: the contract names no layout, or an error of `read_state_dict` or `read_layout`.
    """
    from robomarl.lab.foreign.checkpoint.stable_baselines import read_vec_normalize
    from robomarl.lab.foreign.graph.metadata import check_metadata
    from robomarl.lab.foreign.layouts import normalized, read_layout, within_limits
    from robomarl.lab.foreign.network import as_policy
    from robomarl.lab.foreign.state_dict import read_state_dict

    with library_errors(f"{file}: can't be read as a checkpoint", "save the state_dict anew"):
        saved = read_state_dict(file, kind)
    layout = contract.layout or _layout(saved.arrays, file)
    check_metadata(saved.metadata, contract, str(file))
    chosen = contract.activation or (saved.settings.activation if saved.settings else "")
    network = read_layout(saved.arrays, layout, chosen, str(file))
    network = within_limits(network, saved.settings) if saved.settings else network
    if contract.vec_normalize and (seen := read_vec_normalize(beside / contract.vec_normalize)):
        network = normalized(network, seen)
    return as_policy(network, layout)


def _layout(weights: dict[str, np.ndarray], file: Path) -> str:
    """Return the layout of weights with names that only one trainer gives.

    Raises:
        UserError: several trainers, or none, give such names.
    """
    from robomarl.lab.foreign.layouts import LAYOUTS, layouts_of

    found = layouts_of(weights)
    if len(found) == 1 and found[0] in ("rl_games", "sb3", "brax"):
        return found[0]
    alike = f" (its names are like those of {' and '.join(found)})" if found else ""
    raise UserError(
        f"{file}: is a state dict, and the contract does not say whose; add layout = one of "
        f"{', '.join(LAYOUTS)}{alike}."
    )


def check_sizes(foreign: ForeignPolicy, wiring: Wiring, file: Path, toml: Path) -> None:
    """Compare the numbers of inputs and outputs of the policy with the contract's.

    Raises:
        UserError: one differs, or there are two normalizers.
    """
    wanted = len(wiring.columns)
    if foreign.num_inputs is not None and foreign.num_inputs != wanted:
        raise UserError(
            f"{file}: reads {foreign.num_inputs} numbers, but observation in {toml} makes {wanted}; name its fields "
            "there in the order of training."
        )
    if foreign.normalized and wiring.normalizer:
        raise UserError(f"{toml}: normalizer is given, but {file} has one of its own; take it out.")
    try:
        count = foreign.reference(np.zeros((1, wanted), np.float32)).shape[-1]
    except Exception as error:  # of whatever framework it is
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise UserError(f"{file}: {foreign.framework} can't run it on {wanted} numbers ({said[-1][:120]}).") from None
    if count != len(wiring.rows):
        raise UserError(
            f"{file}: writes {count} numbers, but the command has {len(wiring.rows)}; change its last layer."
        )


def observation_spec(contract: ContractFile, usual: ObservationSpec) -> ObservationSpec:
    """Return the specification of the observation.

    Raises:
        UserError: a field that is not known.
    """
    read = contract.observation
    fields = tuple(f if isinstance(f, ObservationField) else ObservationField(f) for f in read.fields)
    return ObservationSpec(fields or usual.fields, read.neighbours or usual.neighbours)


def recipe(file: Path, contract: ContractFile, foreign: ForeignPolicy) -> ImportRecipe:
    """Return the origin of the policy, for the bundle."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    algorithm = f"{contract.layout or 'elsewhere'}, imported from {file.name}"
    return ImportRecipe(algorithm, file.name, digest, to_dict(contract), foreign.framework)


def _beside(toml: Path, scenario: str) -> str:
    """A scenario by name, or by a path from the contract's folder."""
    return str(toml.parent / scenario) if scenario.endswith(".toml") else scenario
