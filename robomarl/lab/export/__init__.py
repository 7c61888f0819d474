"""Export of a run as a bundle. Nothing is written unless the bundle reproduces the run's outputs on this machine."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from robomarl.core.bundle import golden
from robomarl.core.bundle.bundle import (
    CARD_FILE,
    CONTRACT_FILE,
    FILTERED_FILE,
    GOLDEN_FILE,
    POLICY_FILE,
    Bundle,
    entry_of,
    load_bundle,
    seal,
)
from robomarl.core.bundle.filtered import check_filtered
from robomarl.core.bundle.runtime import Policy
from robomarl.core.config import UserError
from robomarl.core.domain.registry import command_of
from robomarl.lab.evaluate.sealed_scenario import VEHICLE, sealed
from robomarl.lab.export.filtered import Shapes, filtered_graph, has_graph
from robomarl.lab.export.graph import to_onnx
from robomarl.lab.export.model_card import model_card
from robomarl.lab.export.record import Recorded, Trained, actions_seen, carry_shapes, contract_of, record, scenarios
from robomarl.lab.on_robots import check_on_robots
from robomarl.lab.sim.env import make_env
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.initial.weights_file import to_npz, without_critics

__all__ = ["export_bundle", "policy_graph"]

WEIGHTS_FILE = "weights.npz"
"""Name of the weights file for `train --init`; `robomarl.lab.train.run.run_folder.read_weights` reads it."""


def _check_trained(run: Trained) -> None:
    """A run that was stopped before its first update has seen nothing: no range of an input is known."""
    stats = run.observation_stats
    if not all(np.isfinite(part).all() for part in (stats.low, stats.high, stats.mean, stats.std)):
        raise UserError(f"{run.name}: was stopped before its first update: there is nothing to export; train longer.")


def export_bundle(
    run: Trained,
    out_dir: str | Path,
    name: str = "",
    team_size: tuple[int, int] | None = None,
    finish: Callable[[Path], None] | None = None,
    recorded: Recorded | None = None,
) -> Bundle:
    """Write the bundle of a run.

    Args:
        run: the trained run; see `robomarl.lab.train.run.run_folder.load_run`.
        out_dir: the bundle's folder. An existing bundle there is replaced, anything else is not
            touched.
        name: name of the bundle; by default the run's.
        team_size: least and largest team; by default exactly the scenario's.
        finish: receives the folder of the complete bundle before it is put in its place, for example to
            fly and add figures.
        recorded: result of `record` for the run, if it is known.

    Raises:
        UserError: ONNX and JAX differ by more than `golden.TOLERANCE` anywhere on the golden sequences,
            the network can't be translated, the folder can't be written, or the run's team sees
            everything, as no robot does. Nothing has been written then.
    """
    target = Path(out_dir)
    check_target(target)
    if key := simulation_of(run.scenario).all_seeing(run.scenario):
        raise UserError(
            f"{run.name}: was trained with {key}, and a robot can't see everything; train it in a scenario "
            "without that key."
        )
    check_on_robots(make_env(run.scenario).observation, run.scenario.task)
    _check_trained(run)
    content = bundle_files(run, name or run.name, team_size, recorded)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as temporary:
            folder = Path(temporary) / target.name
            folder.mkdir()
            for path, data in content.items():
                (folder / path).write_bytes(data)
            check_parity(load_bundle(folder))
            if finish:
                finish(folder)
            _replace(folder, target)
    except OSError as error:
        raise UserError(f"{target}: can't be written ({error.strerror}); name another folder.") from None
    return load_bundle(target)


def bundle_files(
    run: Trained, name: str, team_size: tuple[int, int] | None, recorded: Recorded | None = None
) -> dict[str, bytes]:
    """Content of every file of the bundle."""
    recorded = recorded or record(run)
    plain = replace(contract_of(run, name, team_size), actions_seen=actions_seen(recorded.action))
    command = golden.filtered(plain, recorded.views, recorded.action)
    shapes = Shapes(plain.observation.spec.size, plain.team_size[1] - 1, carry_shapes(run))
    sequences = golden.Golden(recorded.views, recorded.obs, recorded.action, command)
    files = {
        POLICY_FILE: policy_graph(run, plain.observation.spec.size),
        GOLDEN_FILE: golden.to_bytes(sequences),
        CARD_FILE: model_card(plain).encode(),
    }
    if run.weights:
        weights = without_critics(run.weights) if run.experts else run.weights
        files[WEIGHTS_FILE] = to_npz(weights, files[POLICY_FILE])
    if has_graph(plain.safety, plain.action):
        around = command_of(plain.action).around
        files[FILTERED_FILE] = filtered_graph(run.policy_fn, shapes, plain.safety, around)  # type: ignore[arg-type]
    files |= named_files(run)
    contract = replace(plain, files={path: entry_of(data) for path, data in files.items()})
    return {**files, CONTRACT_FILE: seal(contract)}


def named_files(run: Trained) -> dict[str, bytes]:
    """Return the files that the scenarios name by path and that `eval` opens, without the vehicle, which
    is in the contract.

    Raises:
        UserError: the experts' scenarios name files that differ from the run's own; there is room for
            one of each.
    """
    first, *others = (sealed(scenario).files for scenario in scenarios(run))
    if any(files != first for files in others):
        raise UserError(f"{run.name}: its scenarios name different files; train its actors with the same ones.")
    return {name: content for name, content in first.items() if Path(name).stem != VEHICLE}


def policy_graph(run: Trained, num_obs: int) -> bytes:
    """The ONNX graph of a run's policy: obs, carry.NAME, ... -> action, next.NAME, ..."""
    shapes = carry_shapes(run)

    def flat(obs, *carry):
        carry, action = run.policy_fn(tuple(carry), obs)
        return (action, *carry)

    inputs = {"obs": (num_obs,), **{f"carry.{name}": shape for name, shape in shapes.items()}}
    return to_onnx(flat, inputs, ["action", *(f"next.{name}" for name in shapes)])


def check_parity(bundle: Bundle) -> None:
    """Compare the outputs of the bundle with those of the run.

    Raises:
        UserError: names the worst element.
    """
    sequences = golden.from_bytes(bundle.files[GOLDEN_FILE])
    golden.check_shapes(sequences, bundle.contract.observation.spec, bundle.contract.action)
    for name, values in (("observation", sequences.obs), ("action", sequences.action)):
        if not np.isfinite(values).all():
            raise UserError(f"The run's {name} is not finite in its own environment; nothing was written, train anew.")
    found = golden.check_policy(Policy(bundle), sequences)
    found += check_filtered(bundle, sequences) if FILTERED_FILE in bundle.files else []
    off = [deviation for deviation in found if not deviation.ok]
    if off:
        raise UserError(f"ONNX and JAX differ: {off[0]}; nothing was written.")


def check_target(target: Path) -> None:
    """Raises `UserError` where a file, or a folder that is no bundle, is in the way."""
    if target.is_dir() and any(target.iterdir()) and not (target / CONTRACT_FILE).is_file():
        raise UserError(f"{target} is a folder with other things in it; name another folder for the bundle.")
    if target.exists() and not target.is_dir():
        raise UserError(f"{target} is a file; name a folder for the bundle.")


def _replace(folder: Path, target: Path) -> None:
    """Put `folder` in the place of `target`; the old one goes away with the temporary folder."""
    old = folder.parent / "old"
    if target.exists():
        os.rename(target, old)
    try:
        os.rename(folder, target)
    except OSError:
        if old.exists():
            os.rename(old, target)
        raise
