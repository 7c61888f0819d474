"""`onboard`: robomarl's wheel without the floors that no robot runs: lab, field and front."""

import base64
import configparser
import csv
import hashlib
import io
import zipfile
from pathlib import Path

LEFT_OUT = ("lab", "field", "front")
"""Floors that need a simulator or an operator (docs/architecture.md)."""
FLOORS = ("core", "fleet", "ros", "vehicles", *LEFT_OUT)


def onboard(wheel: Path) -> Path:
    """Rewrite a wheel in place: modules of `LEFT_OUT` are gone, and so are the entry points that lead to them.

    The parts and their times stay as they are otherwise, so that one commit makes one wheel. Returns the same path.
    """
    with zipfile.ZipFile(wheel) as archive:
        parts = [(info, archive.read(info)) for info in archive.infolist() if is_onboard(info.filename)]
    record = next(info.filename for info, _ in parts if info.filename.endswith(".dist-info/RECORD"))
    kept = [(info, _fitting(info.filename, data)) for info, data in parts if info.filename != record]
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerows((info.filename, f"sha256={_digest(data)}", len(data)) for info, data in kept)
    rows.writerow((record, "", ""))
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in kept:
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
        archive.writestr(record, table.getvalue())
    return wheel


def is_onboard(name: str) -> bool:
    """Return True unless a file of a wheel belongs to a floor that no robot runs."""
    parts = name.split("/")
    if parts[0] != "robomarl" or len(parts) < 2:
        return True
    floor = next((part for part in parts[1:-1] if part in FLOORS), "")
    return floor not in LEFT_OUT


def _fitting(name: str, data: bytes) -> bytes:
    """Return the content of a file, entry points without those whose module is left out."""
    if not name.endswith(".dist-info/entry_points.txt"):
        return data
    table = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    table.optionxform = str  # type: ignore[method-assign, assignment]  # names of scripts keep their case
    table.read_string(data.decode())
    for section in table.sections():
        for key, target in table.items(section):
            if not is_onboard(target.partition(":")[0].replace(".", "/") + "/"):
                table.remove_option(section, key)
    text = io.StringIO()
    table.write(text, space_around_delimiters=True)
    return text.getvalue().encode()


def _digest(data: bytes) -> str:
    """Return the SHA-256 as RECORD files have it (PEP 376): URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
