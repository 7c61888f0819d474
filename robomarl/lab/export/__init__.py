"""Export of a run as a bundle. Nothing is written unless the bundle reproduces the run's outputs on this machine."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from robomarl.core.bundle import golden
from robomarl.core.bundle.bundle import FILTERED_FILE, GOLDEN_FILE, Bundle, load_bundle
from robomarl.core.bundle.filtered import check_filtered
from robomarl.core.bundle.runtime import Policy
from robomarl.core.config import UserError
from robomarl.lab.export.contract import contract_of
from robomarl.lab.export.facts import Trained, facts_of
from robomarl.lab.export.files import bundle_files
from robomarl.lab.export.folder import check_target, write_folder
from robomarl.lab.export.record import Recorded, actions_seen, record

__all__ = ["export_bundle"]


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
    facts = facts_of(run, team_size)
    recorded = recorded or record(facts)
    seen = actions_seen(recorded.action)
    contract = contract_of(facts, name or run.name, seen)
    files = bundle_files(facts, contract, recorded)

    def finished(folder: Path) -> None:
        check_parity(load_bundle(folder))
        if finish:
            finish(folder)

    return write_folder(target, files, finished)


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
