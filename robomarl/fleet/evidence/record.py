"""`FleetRecord`: what an operator's machine keeps of a fleet: what is to be on it, for robots that were absent.

deployed.json   the id that all robots are to have, and the one before
ID.zip          those two bundles
journals/       the robots' journals, as far as they were collected
"""

import hashlib
import json
import os
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet
from robomarl.fleet.disk import make_folder, replace_durably, written
from robomarl.fleet.pointer import ID
from robomarl.fleet.trust.strict_file import complete, read_own


@dataclass(frozen=True)
class Deployed:
    """What a fleet is to have."""

    id: str
    """Of the bundle."""
    previous: str = ""
    """Of the one before; empty for none."""

    def __post_init__(self) -> None:
        """Check the ids, which become names of files."""
        for key, value in (("id", self.id), ("previous", self.previous)):
            if not ID.fullmatch(value) and (value or key == "id"):
                raise ValueError(f"{key} = {value[:80]!r} is no bundle id; remove the file, and flash the fleet again.")


class FleetRecord:
    """Of one fleet; fleets of the same name are told apart by where their robots are."""

    def __init__(self, fleet: Fleet, root: Path) -> None:
        """Name the folder; nothing is made before something is kept.

        Args:
            fleet: whose robots.
            root: that relative folders of robots on this machine are below.
        """
        places = sorted(
            f"{r.name} {r.host} {r.folder if r.host else (root / r.folder).absolute()}" for r in fleet.robots
        )
        mark = hashlib.sha256("\n".join(places).encode()).hexdigest()[:12]
        self.folder = fleets_dir() / f"{fleet.name}-{mark}"
        self._file = self.folder / "deployed.json"

    def deployed(self) -> Deployed | None:
        """What the robots are to have; None where this machine flashed nothing to them.

        Raises:
            UserError: the file is damaged.
        """
        if (content := read_own(self._file)) is None:
            return None
        return complete(Deployed, content, str(self._file), "remove it, and flash the fleet again")

    def remember(self, bundle_id: str, bundle: Bundle | None = None) -> None:
        """Keep what the robots are to have from now on.

        Args:
            bundle_id: its id.
            bundle: itself, where it is at hand.

        Raises:
            UserError: the folder can't be written.
        """
        before = self.deployed()
        previous = "" if before is None else before.previous if before.id == bundle_id else before.id
        with written(self.folder):
            make_folder(self.folder)
            if bundle is not None:
                self._pack(bundle)
            content = json.dumps(asdict(Deployed(bundle_id, previous))) + "\n"
            replace_durably(self._file, content.encode(), self.folder / "deployed.new")
            for file in self.folder.glob("*.zip"):
                if file.stem not in (bundle_id, previous):
                    file.unlink()

    def bundle(self, bundle_id: str) -> Bundle:
        """A bundle that is kept.

        Raises:
            UserError: it is not, or not whole.
        """
        file = self.folder / f"{bundle_id}.zip"
        if not file.exists():
            raise UserError(f"Bundle {bundle_id[:12]} is not kept on this machine; flash it to the fleet again.")
        return load_bundle(file)

    def _pack(self, bundle: Bundle) -> None:
        fresh = self.folder / "bundle.new"
        with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in {**bundle.files, **bundle.sidecars}.items():
                archive.writestr(name, content)
        fresh.rename(self.folder / f"{bundle.id}.zip")


def fleets_dir() -> Path:
    """Folder of what is kept of fleets: `$ROBOMARL_FLEETS`, or the user's folder of state."""
    if "ROBOMARL_FLEETS" in os.environ:
        return Path(os.environ["ROBOMARL_FLEETS"])
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "robomarl" / "fleets"
