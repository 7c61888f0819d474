"""Bundles that are wrong on purpose."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robomarl.core.bundle.bundle import entry_of
from robomarl.core.bundle.provenance import sha256_of


def copy(sealed: Path, to: Path) -> Path:
    return Path(shutil.copytree(sealed, to / "copy"))


def reseal(folder: Path, change: Callable[[dict[str, Any]], Any] = lambda data: None) -> None:
    """Change the contract and make hashes and seal fit again: what is left to find are the deeper checks."""
    file = folder / "bundle.json"
    data = json.loads(file.read_text())
    data.pop("seal")
    for name in data["files"]:
        entry = entry_of((folder / name).read_bytes())
        data["files"][name] = {"sha256": entry.sha256, "size": entry.size}
    change(data)
    file.write_text(json.dumps({**data, "seal": sha256_of(data)}))
