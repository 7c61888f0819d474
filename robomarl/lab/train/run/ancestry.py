"""Which bundles a run goes on from, and which recordings it was adapted to: in its folder, and sealed into bundles."""

from collections.abc import Sequence
from pathlib import Path

from robomarl.core.bundle.bundle import is_bundle, load_bundle
from robomarl.core.bundle.provenance import Ancestor, UsedResidual
from robomarl.core.config import build
from robomarl.core.types import Figures
from robomarl.lab.train.run.storage import read_json

ANCESTRY = "ancestry"
"""Key of `run.json`."""


def ancestors_of(
    sources: Sequence[str], recordings: Sequence[str] = (), residual: UsedResidual | None = None
) -> tuple[Ancestor, ...]:
    """Return the ancestors of a run that starts from these sources, oldest first.

    Args:
        sources: run folders, and bundles by name or folder. A run folder has no id, and passes on its
            own ancestors.
        recordings: recordings to which the run is adapted; they go with the last bundle.
        residual: residual that the recordings showed, if the run is trained with one.

    Raises:
        UserError: a damaged bundle.
    """
    found: list[Ancestor] = []
    for source in sources:
        if (Path(source) / "run.json").is_file() or not is_bundle(source):
            found += read_ancestry(Path(source))
            continue
        bundle = load_bundle(source)
        found += [*bundle.contract.training.ancestry, Ancestor(bundle.contract.name, bundle.id)]
    if recordings and found:
        found[-1] = Ancestor(found[-1].name, found[-1].id, (*found[-1].recordings, *recordings), residual)
    return tuple(dict.fromkeys(found))


def read_ancestry(folder: Path) -> tuple[Ancestor, ...]:
    """Return the ancestry of a run folder; empty if it began with nothing."""
    file = folder / "run.json"
    return parse_ancestry(read_json(file), str(file)) if file.is_file() else ()


def parse_ancestry(about: Figures, file: str) -> tuple[Ancestor, ...]:
    """Return the ancestry in the content of a `run.json`; raises `UserError` if it is damaged."""
    return tuple(build(Ancestor, row, file, f"{ANCESTRY}[{i}]") for i, row in enumerate(about.get(ANCESTRY, ())))
