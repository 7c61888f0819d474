"""The software bill of materials of a robot's installation: `onboard.txt` as CycloneDX 1.5 JSON, in
the wheel.

    python -m robomarl.fleet.install.sbom     makes `robomarl/fleet/install/onboard.cdx.json` anew

Format: https://cyclonedx.org/docs/1.5/json. Names, versions and hashes of all wheels that pip may
take; no licences, which the lock file does not have.
"""

import json
import re
from pathlib import Path

from robomarl import __version__
from robomarl.core.types import Figures
from robomarl.fleet.disk import replace_durably
from robomarl.fleet.install.wheels import LOCK

SBOM = LOCK.with_name("onboard.cdx.json")
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)(.*)")


def sbom(lock: str, version: str = __version__) -> Figures:
    """The bill for a lock file.

    Args:
        lock: text of `onboard.txt`.
        version: robomarl's.
    """
    own = {"type": "application", "bom-ref": "robomarl", "name": "robomarl", "version": version}
    parts = [_component(name, number, rest) for name, number, rest in _pins(lock)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**own, "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": parts,
        "dependencies": [{"ref": "robomarl", "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def text_of(lock: str) -> str:
    """The content of `SBOM`."""
    lines = json.dumps(sbom(lock)).replace('{"type": "library"', '\n {"type": "library"')  # a line for each part
    return f"{lines}\n"


def _pins(lock: str) -> list[tuple[str, str, str]]:
    """Name, version and the rest of each entry."""
    lines = lock.replace("\\\n", " ").splitlines()
    return [match.groups() for line in lines if (match := _PIN.match(line))]  # type: ignore[misc]


def _component(name: str, version: str, rest: str) -> Figures:
    purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
    hashes = [{"alg": "SHA-256", "content": digest} for digest in re.findall(r"--hash=sha256:([0-9a-f]{64})", rest)]
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "hashes": hashes}


if __name__ == "__main__":
    replace_durably(SBOM, text_of(LOCK.read_text()).encode(), Path(f"{SBOM}.new"))
    SBOM.chmod(0o644)
