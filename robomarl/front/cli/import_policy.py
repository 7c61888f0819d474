"""Make a bundle from a policy that was trained elsewhere: ONNX, TorchScript, or a checkpoint of another trainer."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder


@dataclass(frozen=True)
class Args:
    """Options of `robomarl import`."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """The policy: ONNX, TorchScript, or a checkpoint of PyTorch, Stable-Baselines3, Brax or Flax (.onnx, .pt, .pth,
    .zip, .pkl, .safetensors, .msgpack, .cleanrl_model)."""
    dir: Annotated[OutFolder, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Folder of the bundle."""
    contract: Annotated[Path, tyro.conf.arg(metavar="FILE")]
    """contract.toml: scenario, observation and action of the policy, layout of a state dict; see docs/import.md."""
    name: str = ""
    """Name of the bundle; by default the name of its folder."""


def run(args: Args) -> Figures:
    """Import, and print the bundle's folder and its largest difference from the file's own framework."""
    from robomarl.lab.foreign import import_bundle

    bundle, parity = import_bundle(args.file, args.contract, args.dir, args.name)
    print(f"{args.dir}: id {bundle.id}")
    print(f"  differs from {bundle.contract.training.recipe['framework']} by {parity:.2g} at most")
    return {"id": bundle.id, "dir": str(args.dir), "name": bundle.contract.name, "parity_max": parity}
