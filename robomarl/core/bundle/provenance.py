"""Origin of a policy: source files, whole, with their hashes, and how it was trained."""

import hashlib
import json
from dataclasses import dataclass

from robomarl.core.config import plain


def canonical(value: object) -> bytes:
    """JSON that has one spelling for one content: sorted keys, no spaces, full precision."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def sha256_of(value: object) -> str:
    """Hash of the canonical JSON of plain values or dataclasses."""
    return hashlib.sha256(canonical(value)).hexdigest()


@dataclass(frozen=True)
class Source:
    """Another file, whole: its name, its content and the hash of that."""

    name: str
    sha256: str
    """Hash of the content as canonical JSON."""
    content: dict[str, object]

    def __post_init__(self) -> None:
        """Check the hash."""
        if self.sha256 != sha256_of(self.content):
            raise ValueError(f"content of {self.name!r} does not match its sha256.")


@dataclass(frozen=True)
class UsedResidual:
    """Residual model of recorded vehicles, their behaviour beyond the model, as used to train a policy."""

    sha256: str
    """Hash of its weights."""
    before_m: float
    """Mean error of positions predicted for flights that the fit has not seen, without it ..."""
    after_m: float
    """... and with it."""
    windows: int
    """Predictions."""


@dataclass(frozen=True)
class Ancestor:
    """Bundle that provided the weights from which a policy's training continued."""

    name: str
    id: str
    """Sha256 of its file manifest."""
    recordings: tuple[str, ...] = ()
    """Names and hashes of its flights that the next one was adapted to."""
    residual: UsedResidual | None = None
    """That these flights showed, and that the next one was trained with; None: it was trained with none."""


@dataclass(frozen=True)
class Training:
    """Origin of the policy: recipe, seed, code and ancestors."""

    recipe: dict[str, object]
    seed: int
    commit: str
    versions: dict[str, str]
    averaged: tuple[str, ...] = ()
    """Other runs with which its weights are the mean."""
    ancestry: tuple[Ancestor, ...] = ()
    """Bundles that the policy goes on from, oldest first; empty if training began from scratch or none was recorded."""


@dataclass(frozen=True)
class Expert:
    """Additional actor in the policy's graph. It decides on fields as long as the field of its scenario."""

    scenario: Source
    """Scenario that it was trained in."""
    training: Training
