"""Put what robots saw and did in recordings into one Parquet file."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from robomarl.config import UserError


@dataclass(frozen=True)
class Args:
    """Options of `robomarl dataset`."""

    bags: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="BAG [BAG ...]")]
    """Folders of recordings of one bundle."""
    out: Path = Path("dataset.parquet")
    """File to write."""
    bundle: str = ""
    """Name or folder of the bundle; by default the one that flew."""


def run(args: Args) -> dict[str, Any]:
    """Write the file."""
    from tqdm import tqdm

    from robomarl.ros_nodes.replay.dataset import write_dataset

    if not args.bags:
        raise UserError("no recording is named; give the folder of at least one.")
    with tqdm(total=100, unit="%", disable=not sys.stderr.isatty(), leave=False) as bar:
        rows = write_dataset(args.bags, args.out, args.bundle, lambda share: bar.update(int(100 * share) - bar.n))
    print(f"{args.out}: {rows:,} rows, {args.out.stat().st_size / 1e6:.1f} MB")
    return {"rows": rows, "file": str(args.out), "recordings": [str(bag) for bag in args.bags]}
