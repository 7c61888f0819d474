"""Make a bundle from a policy or a perception network that was trained elsewhere: ONNX, TorchScript, or a checkpoint.

With --contract the file is a policy, which reads features. With --perception-of it is a network that reads pictures,
and the bundle that is named sees with it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from robomarl.core.config import Count, Positive, UsageError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder


@dataclass(frozen=True)
class Args:
    """Options of `robomarl import`."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """The policy: ONNX, TorchScript, or a checkpoint of PyTorch, Stable-Baselines3, Brax or Flax (.onnx, .pt, .pth,
    .zip, .pkl, .safetensors, .msgpack, .cleanrl_model). A perception network: ONNX or TorchScript."""
    dir: Annotated[OutFolder, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Folder of the bundle."""
    contract: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """contract.toml: scenario, observation and action of the policy, layout of a state dict; see docs/import.md."""
    name: str = ""
    """Name of the bundle; by default the name of its folder."""
    perception_of: Annotated[str, tyro.conf.arg(metavar="BUNDLE")] = ""
    """Bundle that is to see with the network in FILE; all options below are about this network."""
    image_layout: Literal["nchw", "nhwc"] | None = None
    """Axes of its pictures: channels first or last; by default as the sizes in the file show."""
    image_channels: Literal["rgb", "bgr"] = "rgb"
    """Order of its channels: red or blue first."""
    image_scale: Literal[1, 255] | None = None
    """Number of the brightest channel; a network that reads floats needs it."""
    image_mean: tuple[float, ...] = ()
    """Subtracted from each channel in its order, behind the scale; by default 0."""
    image_std: tuple[Positive, ...] = ()
    """Divisor of each channel behind that; by default 1."""
    strip_columns: Count | None = None
    """Columns of the strips from which its pictures were resized; by default its pictures are strips."""
    outputs: tuple[str, ...] = ()
    """Names of its outputs in the order of the numbers that the robot reads; by default the only one."""
    pose_error_m: Positive | None = None
    """Largest error of a robot's own place with which it moves; by default that of the bundle's eyes, or 0.1."""


def run(args: Args) -> Figures:
    """Import, and print the bundle's folder and its largest difference from the file's own framework.

    Raises:
        UserError: neither or both kinds of import, options of the other, or the errors of the import.
    """
    if args.perception_of:
        return run_perception(args)
    if args.contract is None:
        raise UsageError(
            "import needs --contract FILE for a policy, or --perception-of BUNDLE for a perception network; add one."
        )
    if args != Args(args.file, args.dir, args.contract, args.name):
        raise UsageError("--contract goes with --name only; the other options are of --perception-of.")
    from robomarl.lab.foreign import import_bundle

    bundle, parity = import_bundle(args.file, args.contract, args.dir, args.name)
    print(f"{args.dir}: id {bundle.id}")
    print(f"  differs from {bundle.contract.training.recipe['framework']} by {parity:.2g} at most")
    return {"id": bundle.id, "dir": str(args.dir), "name": bundle.contract.name, "parity_max": parity}


def run_perception(args: Args) -> Figures:
    """Import a network that reads pictures, and print the form in which they are given to it; see `run`."""
    from robomarl.lab.foreign.vision.eyes import ForeignEyes, import_perception
    from robomarl.lab.foreign.vision.form import PictureOptions

    if args.contract is not None:
        raise UsageError("--contract and --perception-of exclude each other; leave one out.")
    options = PictureOptions(
        layout=args.image_layout,
        channels=args.image_channels,
        scale=args.image_scale,
        mean=args.image_mean,
        std=args.image_std,
        columns=args.strip_columns,
        outputs=args.outputs,
    )
    eyes = ForeignEyes(args.file, options, args.pose_error_m)
    bundle, form, parity = import_perception(eyes, args.perception_of, args.dir, args.name)
    print(f"{args.dir}: id {bundle.id}, sees with {args.file.name}")
    print(f"  its pictures: {form.told}")
    print(f"  its network differs from that file's own framework by {parity:.2g} at most")
    figures = {"id": bundle.id, "dir": str(args.dir), "name": bundle.contract.name, "parity_max": parity}
    return {**figures, "pictures": form.told}
