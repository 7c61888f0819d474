"""Writing and reading of states, so that a kill at any time leaves whole ones.

A file is written beside the old one, flushed to the disk and renamed. Seeds that train side by side
have a file each, and a kill may come between two files: there the previous state is kept as well,
and a resumed run starts from the newest state that all seeds have.
"""

import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.config import UserError
from robomarl.core.types import Array, Figures
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train.algorithm import init_state
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.state import TrainState

NEWEST, BEFORE = "checkpoint.npz", "checkpoint.before.npz"


def save_state(file: Path, state: TrainState) -> None:
    """Write the whole state, atomically."""
    leaves = [jax.random.key_data(x) if _is_key(x) else x for x in jax.tree.leaves(state)]
    save_arrays(file, {f"{i:04d}": np.asarray(leaf) for i, leaf in enumerate(leaves)})


def save_arrays(file: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write named arrays as NPZ, atomically."""
    temporary = file.with_suffix(".tmp.npz")
    with temporary.open("wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(file)


def check_new(folder: Path) -> None:
    """Raises `UserError` where the folder exists and is not empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"--out {folder}: the run folder exists; add --resume to go on, or name another --out.")


def create_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder with files, by their names: whole or, where the process is killed, not at all.

    Raises:
        UserError: the folder exists and is not empty, or can't be made.
    """
    check_new(folder)
    temporary = folder.parent / f".{folder.name}.new"
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        for name, content in files.items():
            (temporary / name).write_bytes(content)
        temporary.replace(folder)
    except OSError as error:
        raise UserError(f"--out {folder}: can't be made ({error.strerror}); name another --out.") from None


def json_text(content: object) -> str:
    """Plain values as the text of a JSON file."""
    return json.dumps(content, indent=2) + "\n"


def replace_text(file: Path, text: str) -> None:
    """Write a text file, atomically."""
    temporary = file.with_suffix(".tmp")
    temporary.write_text(text)
    temporary.replace(file)


def save_checkpoint(folder: Path, state: TrainState, keep_before: bool) -> None:
    """Replace the checkpoint of a run folder; `keep_before` keeps the one of before under another name."""
    if keep_before and (folder / NEWEST).is_file():
        (folder / NEWEST).replace(folder / BEFORE)
    save_state(folder / NEWEST, state)


def load_state(file: Path, config: TrainConfig, env: AgentsEnv) -> TrainState:
    """Read the state that `save_state` wrote for an equal configuration and environment.

    Raises:
        UserError: the file is damaged, or belongs to another configuration.
    """
    template = jax.eval_shape(lambda: init_state(config, env, jax.random.key(0)))
    wanted, tree = jax.tree.flatten(template)
    leaves = _arrays(file)
    if len(leaves) != len(wanted):
        raise UserError(f"{file} holds {len(leaves)} arrays, not {len(wanted)}: it is of another version; train anew.")
    for i, (leaf, want) in enumerate(zip(leaves, wanted, strict=True)):
        if not _is_key(want) and leaf.shape != want.shape:
            said = f"array {i} is of shape {leaf.shape}, and of {want.shape} for its config.json and scenario.json"
            raise UserError(f"{file}: {said}; it is of another run.")
    restored = [jax.random.wrap_key_data(x) if _is_key(w) else x for x, w in zip(leaves, wanted, strict=True)]
    return jax.tree.unflatten(tree, restored)


def _arrays(file: Path) -> list[Array]:
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as data:  # numpy leaves a broken one open
            return [data[name] for name in sorted(data.files)]
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, AttributeError, KeyError) as error:
        before = file.with_name(BEFORE)
        mend = f"remove it, {BEFORE} is the state of before" if before.is_file() and before != file else "train anew"
        raise UserError(f"{file}: is no whole checkpoint ({error}); {mend}.") from None


def read_json(file: Path) -> Figures:
    """Content of a file of a run folder; raises `UserError` where it can't be read, or is no table."""
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: can't be read ({error}); the run folder is damaged.") from None
    if not isinstance(content, dict):
        raise UserError(f"{file}: is no table of keys; the run folder is damaged.")
    return content


def read_about(file: Path) -> Figures:
    """Content of `run.json`; raises `UserError` where a key is missing or of another type."""
    about = read_json(file)
    for key, kind in (("seed", int), ("commit", str), ("versions", dict)):
        if not isinstance(about.get(key), kind):
            raise UserError(f"{file}: {key} is missing or of another type; the run folder is damaged.")
    return about


def load_checkpoints(folders: Sequence[Path], config: TrainConfig, env: AgentsEnv) -> list[TrainState] | None:
    """Return the newest states of all run folders at one common step; None if training was killed before
    there was one.

    Raises:
        UserError: the checkpoints of the seeds have no step in common.
    """
    found = []
    for folder in folders:
        files = [folder / name for name in (NEWEST, BEFORE) if (folder / name).is_file()]
        states = (load_state(file, config, env) for file in files)
        found.append({int(state.steps): state for state in states})
    if not all(found):
        return None
    common = set.intersection(*(set(states) for states in found))
    if not common:
        raise UserError(f"{folders[0].parent}: the seeds' checkpoints are of different steps; resume each by itself.")
    return [states[max(common)] for states in found]


def _is_key(leaf: Array) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
