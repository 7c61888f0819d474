"""Data that Stable-Baselines3 stores beside its weights: limits of the actions, the activation, and VecNormalize."""

import base64
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.types import Figures
from robomarl.lab.foreign.checkpoint.unpickle import Inert, unpickle
from robomarl.lab.trees import Tree

ACTIVATION_CLASSES = {
    "ELU": "elu",
    "GELU": "gelu",
    "Identity": "identity",
    "LeakyReLU": "leaky_relu",
    "ReLU": "relu",
    "SELU": "selu",
    "SiLU": "silu",
    "Sigmoid": "sigmoid",
    "Softplus": "softplus",
    "Tanh": "tanh",
}
"""Our name of each class of `torch.nn`."""


class SpaceLimits(NamedTuple):
    """Settings of a model: limits of its actions, and its activation."""

    low: np.ndarray
    """[A] least action, in the units of training"""
    high: np.ndarray
    activation: str
    """Activation by robomarl's name; empty if the model uses the default of its policy."""


class Normalization(NamedTuple):
    """(x - mean) / root(variance + epsilon), clipped."""

    mean: np.ndarray
    variance: np.ndarray
    epsilon: float
    clip: float


def read_settings(data: Figures, where: str) -> SpaceLimits:
    """The member `data` of a model's file.

    Raises:
        UserError: actions that are not numbers in a box, an activation that import lacks, or exploration that squashes.
    """
    space = _unpickled(data["action_space"])
    if not isinstance(space, Inert) or not {"low", "high"} <= space.state.keys():
        kind = str(data["action_space"].get(":type:", "unknown"))
        raise UserError(f"{where}: its actions are {kind}, not a Box of numbers; only continuous actions can fly.")
    settings = _unpickled(data["policy_kwargs"]) if ":serialized:" in data.get("policy_kwargs", {}) else {}
    settings = settings if isinstance(settings, dict) else {}
    if data.get("use_sde") and settings.get("squash_output"):
        raise UserError(f"{where}: was trained with use_sde and squash_output, which import lacks; export ONNX.")
    chosen = settings.get("activation_fn")
    name = getattr(chosen, "path", "").rpartition(".")[2]
    if name and name not in ACTIVATION_CLASSES:
        raise UserError(f"{where}: its activation {name} is not one that import knows; export the policy as ONNX.")
    low, high = (np.asarray(space.state[side], np.float32).reshape(-1) for side in ("low", "high"))
    return SpaceLimits(low, high, ACTIVATION_CLASSES.get(name, ""))


def read_vec_normalize(file: Path) -> Normalization | None:
    """Read a file that `VecNormalize.save` wrote; return None if it does not normalize observations.

    Raises:
        UserError: the file can't be read, or is of another kind.
    """
    try:
        state = unpickle(file.read_bytes())[0].state
        if not state["norm_obs"]:
            return None
        seen = state["obs_rms"].state
        mean, variance = (np.asarray(seen[name], np.float64).reshape(-1) for name in ("mean", "var"))
        return Normalization(mean, variance, float(state["epsilon"]), float(state["clip_obs"]))
    except OSError as error:
        raise UserError(f"vec_normalize = {file}: can't be read ({error.strerror}); name the file.") from None
    except Exception as error:  # of a pickle, whichever
        raise UserError(
            f"vec_normalize = {file}: is not what VecNormalize.save wrote for one array of observations "
            f"({type(error).__name__}); save it anew."
        ) from None


def _unpickled(entry: Figures) -> Tree:
    return unpickle(base64.b64decode(entry[":serialized:"]))[0]
