"""Failures of a command as one sentence: files, disks, memory, packages, and unforeseen faults."""

import errno
import os
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from robomarl.core.config import printable
from robomarl.core.paths import cache_dir

EXTRAS = {
    "crazyflie": ("cflib",),
    "mavlink": ("pymavlink",),
    "ssl": ("google",),
    "train": (
        *(
            "jax",
            "jaxlib",
            "flax",
            "optax",
            "brax",
            "mujoco",
            "onnx",
            "tensorboardX",
            "tqdm",
            "matplotlib",
            "PIL",
            "scipy",
        ),
        "cmaes",
    ),
    "torch": ("torch", "safetensors"),
    "scale": ("ray", "submitit", "cloudpickle"),
    "certify": ("z3",),
    "jaxmarl": ("jaxmarl",),
    "dataset": ("pyarrow",),
    "logs": ("pyulog",),
    "pettingzoo": ("pettingzoo",),
    "sb3": ("stable_baselines3",),
    "view": ("viser", "trimesh"),
    "operate": ("nicegui", "fastapi", "starlette", "uvicorn"),
    "hub": ("fsspec", "aiohttp"),
    "s3": ("s3fs",),
    "hf": ("huggingface_hub",),
    "wandb": ("wandb",),
    "mlflow": ("mlflow",),
    "ros": (
        "rclpy",
        "geometry_msgs",
        "nav_msgs",
        "std_msgs",
        "std_srvs",
        "trajectory_msgs",
        "diagnostic_msgs",
        "lifecycle_msgs",
        "mcap",
    ),
}
"""Which optional extra of the package brings which module."""

SHOW = "ROBOMARL_TRACEBACK"
"""Set to anything, it makes a fault end in its traceback instead of a sentence."""


def told(error: Exception, name: str, words: Sequence[str]) -> str:
    """Return a sentence with the fix for a user's mistake; for a fault, with the place of the traceback.

    Args:
        error: exception that ended the command.
        name: name of the command.
        words: its options, which are kept with the traceback.
    """
    if os.environ.get(SHOW):
        raise error
    if isinstance(error, ModuleNotFoundError):
        return missing_extra(error)
    if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
        said = printable(str(error))[:200] or "MemoryError"
        return f"it does not fit into the memory ({said}); ask for less, or for a shorter time."
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{error.filename or 'a file'}: can't be written ({error.strerror}); make room, or name another disk."
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}; name another file or folder."
    return _fault(error, name, words)


def missing_extra(error: ModuleNotFoundError) -> str:
    """One sentence that says which extra brings the module that was not found."""
    root = (error.name or "").split(".")[0]
    for extra, modules in EXTRAS.items():
        if root in modules:
            return f"{root} is not installed; run: pip install 'robomarl[{extra}]'"
    return f"the Python module {error.name!r} is not installed; run: pip install robomarl"


def _fault(error: Exception, name: str, words: Sequence[str]) -> str:
    """Describe a mistake of ours, or of a library: its type, its place, and the place of its traceback."""
    kind, text = type(error).__name__, printable(str(error))[:300]
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "robomarl" in Path(f.filename).parts] or frames
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "nowhere"
    kept = _kept("".join(traceback.format_exception(error)), f"robomarl {' '.join([name, *words])}\n")
    return f"a fault that robomarl did not foresee, {kind} in {where} ({text}); report it with {kept}."


def _kept(text: str, command: str) -> str:
    """Return the file of the traceback; if no file can be written, how to show it."""
    file = cache_dir() / "faults" / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(command + text)
    except OSError:
        return f"what {SHOW}=1 prints"
    return str(file)
