"""`FleetRecord`: record of a fleet on an operator's machine: the bundle it is to have, for robots that were absent.

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
    """Bundles that a fleet is to have."""

    id: str
    """Id of the bundle."""
    previous: str = ""
    """Id of the bundle before; empty for none."""

    def __post_init__(self) -> None:
        """Check the ids, which become names of files."""
        for key, value in (("id", self.id), ("previous", self.previous)):
            if not ID.fullmatch(value) and (value or key == "id"):
                raise ValueError(f"{key} = {value[:80]!r} is no bundle id; remove the file, and flash the fleet again.")


class FleetRecord:
    """Record of one fleet; fleets of equal name are distinguished by the places of their robots."""

    def __init__(self, fleet: Fleet, root: Path) -> None:
        """Name the folder; it is made when something is first stored.

        Args:
            fleet: fleet with the robots.
            root: base of the relative folders of robots on this machine.
        """
        places = sorted(f"{r.name} {r.host} {r.folder if r.host else (root / r.folder).absolute()}" for r in fleet.own)
        mark = hashlib.sha256("\n".join(places).encode()).hexdigest()[:12]
        self.folder = fleets_dir() / f"{fleet.name}-{mark}"
        self._file = self.folder / "deployed.json"

    def deployed(self) -> Deployed | None:
        """Return the bundles that the robots are to have; None if this machine flashed nothing to the fleet.

        Raises:
            UserError: the file is damaged.
        """
        if (content := read_own(self._file)) is None:
            return None
        return complete(Deployed, content, str(self._file), "remove it, and flash the fleet again")

    def remember(self, bundle_id: str, bundle: Bundle | None = None) -> None:
        """Record the bundle that the robots are to have from now on.

        Args:
            bundle_id: its id.
            bundle: the bundle itself, if it is at hand.

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
    """Return the folder of the fleet records: `$ROBOMARL_FLEETS`, or the user's folder of state."""
    if "ROBOMARL_FLEETS" in os.environ:
        return Path(os.environ["ROBOMARL_FLEETS"])
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "robomarl" / "fleets"
