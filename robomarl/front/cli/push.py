"""Put a bundle at an address for others to pull: a folder, an S3-like store or a hub of models.

The address gets a card, README.md with metadata, and the sealed files in bundle/ beside it. An interrupted call goes on
where it ended, and what is half there is not a bundle for `robomarl pull`.
"""

from dataclasses import dataclass
from typing import Annotated

import tyro

from robomarl.core.types import Figures


@dataclass(frozen=True)
class Args:
    """Options of `robomarl push`."""

    bundle: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BUNDLE")]
    """Name of a bundle in policies/, its folder, or its ZIP file. Sign it first with `robomarl key sign`."""
    url: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="URL")]
    """Where it goes: a path, s3://BUCKET/..., hf://USER/REPOSITORY or any other address that fsspec can write to. An
    address that ends with .zip gets one packed file."""
    replace: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Replace a different bundle that is there."""


def run(args: Args) -> Figures:
    """Send, and say what was sent."""
    from robomarl.core.bundle.bundle import load_bundle
    from robomarl.fleet.waiting import waits
    from robomarl.front.hub.push import push

    bundle = load_bundle(args.bundle)
    with waits(f"{args.url} to take the bundle"):
        done = push(bundle, args.url, args.replace)
    sent = f"{len(done.sent)} files sent, {len(done.kept)} were there already"
    print(f"{args.url}: {bundle.contract.name}, id {bundle.id}, {done.signers.told()}; {sent}")
    print(f"  next: robomarl pull {args.url} --id {bundle.id[:12]}")
    signers = {"signed_by": list(done.signers.known), "unknown_keys": list(done.signers.unknown)}
    return {"id": bundle.id, "url": args.url, **signers, "sent": list(done.sent), "kept": list(done.kept)}
