"""Fetch a bundle from a folder, a web server, an S3-like store or a hub of models; checked before it is there.

An interrupted call goes on where it ended. The exit status is 0 only if the hashes, the signature and the golden
values agree.
"""

from dataclasses import dataclass
from typing import Annotated

import tyro

from robomarl.core.types import Figures
from robomarl.front.cli.ends import OutFolder


@dataclass(frozen=True)
class Args:
    """Options of `robomarl pull`."""

    url: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="URL")]
    """Address of a bundle: a path, https://..., s3://BUCKET/..., hf://USER/REPOSITORY or any other that fsspec knows;
    a folder, or a file that ends with .zip."""
    dir: Annotated[OutFolder | None, tyro.conf.Positional, tyro.conf.arg(metavar="[DIR]")] = None
    """Folder to make; bundles/NAME by default."""
    id: str = ""
    """The id that the bundle must have, or its first letters; by default any."""
    signed_by: tuple[str, ...] = ()
    """Names of keys on this machine (`robomarl key list`) that must all have signed it; by default it may be unsigned,
    but a signature that is there must be valid."""


def run(args: Args) -> Figures:
    """Fetch the bundle, and print its id, its signers and the bytes fetched."""
    from robomarl.fleet.waiting import waits
    from robomarl.front.hub.pull import PullOptions, pull

    with waits(f"{args.url} to send the bundle"):
        found = pull(args.url, args.dir, PullOptions(args.id, args.signed_by))
    bundle, came = found.bundle, found.fetched_bytes
    size = f"{came / 1e3:,.0f} kB came" if came else "it was there already"
    print(f"{bundle.folder}: {bundle.contract.name}, id {bundle.id}, {found.signers.told()}; {size}")
    print(f"  next: robomarl flash {bundle.folder} FLEET")
    signers = {"signed_by": list(found.signers.known), "unknown_keys": list(found.signers.unknown)}
    about = {"id": bundle.id, "name": bundle.contract.name, "dir": str(bundle.folder)}
    return {**about, **signers, "fetched_bytes": came}
