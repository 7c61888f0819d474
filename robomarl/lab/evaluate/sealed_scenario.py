"""Scenarios in run folders and bundles are whole: files that one names by path go with it, under names of their own.

A path is of the machine that trained; a run folder is moved, and a bundle is copied. A vehicle that ships is named
without a path, and stays so.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import yaml

from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.core.config import UserError, to_dict
from robomarl.core.config.parsed import JsonObject
from robomarl.core.paths import cache_dir
from robomarl.core.tables import merged
from robomarl.lab.sim.scenario import Scenario, build_scenario, load_scenario

VEHICLE = "vehicle"
"""Key of a scenario that names the vehicle file, which a bundle stores in its contract."""


class Sealed(NamedTuple):
    """Scenario in its written form."""

    content: JsonObject
    """Its keys; files are called as in `files`."""
    files: dict[str, bytes]
    """Content of the files that the scenario names by path."""


def sealed(scenario: Scenario) -> Sealed:
    """The scenario and its files; raises `UserError` where one can't be read."""
    content, files = to_dict(scenario), {}
    for key, file in scenario.named_files.items():
        try:
            files[name_of(key, file)] = Path(file).read_bytes()
        except OSError as error:
            raise UserError(f"{scenario.name}.toml: {key} = {file!r} can't be read ({error.strerror}).") from None
        content = _with(content, key, name_of(key, file))
    return Sealed(content, files)


def opened(content: JsonObject, where: str, find: Callable[[str], Path | None]) -> Scenario:
    """Return the scenario, with the current paths of its files.

    Args:
        content: its keys.
        where: the file that holds the keys, for errors.
        find: path of a sealed file by its name; None if it was not sealed, and the path stays as
            written.
    """
    scenario = build_scenario(content, where)
    places = {key: find(name_of(key, file)) for key, file in scenario.named_files.items()}
    moved = {key: place for key, place in places.items() if place is not None}
    for key, place in moved.items():
        content = _with(content, key, str(place))
    return build_scenario(content, where) if moved else scenario


def opened_from_folder(content: JsonObject, file: Path) -> Scenario:
    """The scenario of a run folder, `file` in it."""
    return opened(content, str(file), lambda name: path if (path := file.parent / name).is_file() else None)


def opened_from_bundle(bundle: Bundle, content: JsonObject | None = None) -> Scenario:
    """The scenario that a bundle was trained in, or that of one of its experts.

    Its files are written into the cache, each under its hash: a bundle may be a ZIP file, or on a disk that can't be
    written. The vehicle's is the one of the contract.
    """

    def find(name: str) -> Path | None:
        if name in (f"{VEHICLE}.yaml", f"{VEHICLE}.yml"):
            return cached(name, yaml.safe_dump(bundle.contract.vehicle.content, sort_keys=False).encode())
        return cached(name, bundle.files[name]) if name in bundle.files else None

    return opened(dict(content or bundle.contract.scenario.content), f"{bundle.folder}/bundle.json", find)


def cached(name: str, content: bytes) -> Path:
    """A file of this content in the cache; raises `UserError` where it can't be written."""
    file = cache_dir() / "sealed" / hashlib.sha256(content).hexdigest()[:32] / name
    try:
        if not file.is_file() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            part = file.with_name(f".{os.getpid()}.{name}")
            part.write_bytes(content)
            part.replace(file)
    except OSError as error:
        raise UserError(f"{file} can't be written ({error.strerror}); name another XDG_CACHE_HOME.") from None
    return file


def name_of(key: str, file: str) -> str:
    """Return the name of a file beside the scenario: `residual.npz` for the key `residual.file`."""
    return key.partition(".")[0] + Path(file).suffix


def _with(content: JsonObject, key: str, value: str) -> JsonObject:
    """The content with another value of a dotted key."""
    *sections, last = key.split(".")
    changed: JsonObject = {last: value}
    for part in reversed(sections):
        changed = {part: changed}
    return merged(content, changed)


def scenario_named(target: str) -> Scenario:
    """Return the scenario of that name, or the one that the bundle of that name was trained for.

    Raises:
        UserError: neither of both exists.
    """
    try:
        return load_scenario(target)
    except UserError as unknown:
        try:
            bundle = load_bundle(target)
        except UserError:
            raise unknown from None
        return opened_from_bundle(bundle)
