"""The bill of materials is that of the lock file; `test_wheels` looks for it in a wheel."""

import json
import re
from pathlib import Path

from robomarl import __version__
from robomarl.fleet.install import wheels
from robomarl.fleet.install.sbom import SBOM, sbom, text_of


def test_it_is_the_lock_files(root: Path):
    assert SBOM.read_text() == text_of(wheels.LOCK.read_text()), "run python -m robomarl.fleet.install.sbom"
    assert json.loads(SBOM.read_text())["metadata"]["component"]["version"] == __version__


def test_it_has_every_pin_and_every_hash():
    lock = wheels.LOCK.read_text()
    made = sbom(lock)
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.5")
    pins = re.findall(r"^(\S+)==(\S+?)(?: ;.*)? \\$", lock, re.M)
    assert [(c["name"], c["version"]) for c in made["components"]] == pins and len(pins) > 8
    assert sum(len(c["hashes"]) for c in made["components"]) == lock.count("--hash=sha256:")
    refs = [c["bom-ref"] for c in made["components"]]
    assert len(set(refs)) == len(refs) and made["dependencies"] == [{"ref": "robomarl", "dependsOn": refs}]
    assert all(re.fullmatch(r"pkg:pypi/[a-z0-9-]+@[\w.]+", ref) for ref in refs)
