"""Arrays by name out of a checkpoint, and nothing else: no code of a file is ever run."""

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robomarl.config import UserError
from robomarl.policies.foreign.pytorch import pytorch


def read_state_dict(file: Path) -> dict[str, np.ndarray]:
    """Every array of a `.safetensors` file or of a PyTorch checkpoint, by dotted name, floats in single precision.

    Checkpoints are pickles; they are read by PyTorch's own reader of weights, which makes tensors and containers and
    calls nothing else (`torch.load(weights_only=True)`).

    Raises:
        UserError: another kind of file, a broken one, or a pickle that wants more than weights.
    """
    arrays = _safetensors(file) if file.suffix == ".safetensors" else flat(_checkpoint(file))
    if not arrays:
        raise UserError(f"{file}: has no tensors in it; save the state_dict of the policy.")
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise UserError(f"{file}: {name} has numbers that are not finite; take an earlier checkpoint.")
    return {name: array.astype(np.float32) for name, array in arrays.items() if array.dtype.kind in "fiu"}


def flat(tree: Any, prefix: str = "") -> dict[str, np.ndarray]:
    """Tensors of nested dicts by dotted name; what is not a tensor is left out."""
    if isinstance(tree, Mapping):
        parts = [flat(value, f"{prefix}.{name}" if prefix else str(name)) for name, value in tree.items()]
        return {name: array for part in parts for name, array in part.items()}
    if hasattr(tree, "detach"):
        return {prefix: tree.detach().cpu().float().numpy()}
    return {}


def _safetensors(file: Path) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError  # pyright: ignore[reportMissingImports]
    from safetensors.numpy import load  # pyright: ignore[reportMissingImports]

    try:
        return load(file.read_bytes())
    except (SafetensorError, KeyError, TypeError) as error:
        raise UserError(f"{file}: is no sound safetensors file of numpy's kinds of numbers ({error}).") from None


def _checkpoint(file: Path) -> Any:
    torch = pytorch()

    try:
        loaded = torch.load(file, map_location="cpu", weights_only=True)
        return loaded[0] if isinstance(loaded, tuple | list) and loaded else loaded  # cleanrl: actor, then critics
    except pickle.UnpicklingError as error:
        why = str(error).split("Unsupported global: ")[-1].split(" ")[0] if "global" in str(error) else "code"
        raise UserError(
            f"{file}: wants to run {why} when it is read, which import never does; save only the state_dict, as "
            "torch.save(policy.state_dict(), FILE)."
        ) from None
    except (RuntimeError, EOFError, ValueError, KeyError, OSError) as error:
        first = str(error).splitlines()[0][:120] if str(error) else "no reason"
        raise UserError(f"{file}: can't be read as a checkpoint ({first}); save the state_dict anew.") from None
