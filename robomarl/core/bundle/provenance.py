"""Where a policy comes from: files, whole, with their hashes, and how it was trained."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from robomarl.core.config import to_dict


def canonical(value: Any) -> bytes:
    """JSON that has one spelling for one content: sorted keys, no spaces, full precision."""
    return json.dumps(to_dict(value), sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def sha256_of(value: Any) -> str:
    """Hash of the canonical JSON of plain values or dataclasses."""
    return hashlib.sha256(canonical(value)).hexdigest()


@dataclass(frozen=True)
class Source:
    """Another file, whole: its name, its content and the hash of that."""

    name: str
    sha256: str
    """Of the content as canonical JSON."""
    content: dict[str, Any]

    def __post_init__(self) -> None:
        """Check the hash."""
        if self.sha256 != sha256_of(self.content):
            raise ValueError(f"content of {self.name!r} does not match its sha256.")


@dataclass(frozen=True)
class UsedResidual:
    """What the vehicles of recordings do beside their model, as a policy was trained with it."""

    sha256: str
    """Of its weights."""
    before_m: float
    """Mean error of positions predicted for flights that the fit has not seen, without it ..."""
    after_m: float
    """... and with it."""
    windows: int
    """Predictions."""


@dataclass(frozen=True)
class Ancestor:
    """A bundle whose weights a policy goes on from."""

    name: str
    id: str
    """Sha256 of its file manifest."""
    recordings: tuple[str, ...] = ()
    """Names and hashes of its flights that the next one was adapted to."""
    residual: UsedResidual | None = None
    """That these flights showed, and that the next one was trained with; None: it was trained with none."""


@dataclass(frozen=True)
class Training:
    """Where the policy comes from."""

    recipe: dict[str, Any]
    seed: int
    commit: str
    versions: dict[str, str]
    averaged: tuple[str, ...] = ()
    """Other runs with which its weights are the mean."""
    ancestry: tuple[Ancestor, ...] = ()
    """Bundles that it goes on from, the oldest first; empty where training began with nothing, or nobody noted it."""


@dataclass(frozen=True)
class Expert:
    """Another actor in the same graph, which decides on fields as long as that of its scenario."""

    scenario: Source
    """What it was trained in."""
    training: Training


def source_of(name: str, content: Any) -> Source:
    """A file's content with its hash."""
    plain = json.loads(canonical(content))
    return Source(name, sha256_of(plain), plain)
