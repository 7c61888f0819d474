"""The sealed bundle: a folder in which every byte is accounted for.

    policy.onnx   observation in, physical action out; normalizer, squash and action scale inside
    bundle.json   the `Contract`, the hash and size of every other file, and a seal over its own content
    policy_filtered.onnx   policy and safety filter in one graph, if the domain has such a graph
    golden.npz    sequences of views, observations, actions and filtered commands from training
    README.md     the card
    perception.onnx, images.npz   network that reads pictures and its golden values, if the bundle sees
    residual.npz  the scenario vehicles' behaviour beyond their model, if it has one; no robot opens it

The id is the sha256 over `{path: {sha256, size}}` of all files. `eval.json` and `signature.json`
are sidecars: they name the id and are not covered by it. Files are read once and used from memory,
so that the checked content is the content that runs.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Protocol

from robomarl.core.bundle.contract import Contract, FileEntry
from robomarl.core.bundle.migrate import check_version, migrate
from robomarl.core.bundle.onnx_check import Kind, check_onnx
from robomarl.core.bundle.provenance import sha256_of
from robomarl.core.bundle.zip_file import read_zip
from robomarl.core.config import UserError, build, suggest, to_dict
from robomarl.core.config.parsed import JsonObject, is_list, is_table, table_in
from robomarl.core.domain.registry import find_features
from robomarl.core.features import FEATURES
from robomarl.core.paths import bundles_dir

CONTRACT_FILE, POLICY_FILE, GOLDEN_FILE, CARD_FILE = "bundle.json", "policy.onnx", "golden.npz", "README.md"
FILTERED_FILE = "policy_filtered.onnx"
"""Policy and safety filter in one graph; older bundles have none."""
PERCEPTION_FILE, IMAGES_FILE = "perception.onnx", "images.npz"
"""Network that reads pictures, and its golden values; only bundles whose contract has an `image` have them."""
REQUIRED = (POLICY_FILE, GOLDEN_FILE, CARD_FILE)
EVAL_FILE = "eval.json"
SIDECARS = (EVAL_FILE, "signature.json")
MAX_BYTES = 64 * 2**20
"""Larger bundles are not read: no policy of a small robot is that large."""
MAX_FILES, MAX_CONTRACT = 64, 2**20
"""Nor are those of more files, or with a larger `bundle.json` or sidecar [bytes]: read as JSON, a file may take thirty
times its size of memory."""
MAX_ERRORS = 100
"""Maximum number of schema violations among which the reported one is chosen."""


@dataclass(frozen=True)
class Bundle:
    """A bundle that has been read and checked. Made by `load_bundle`."""

    folder: Path
    id: str
    contract: Contract
    files: dict[str, bytes]
    """Content by path, `bundle.json` included, sidecars not."""
    sidecars: dict[str, bytes]
    """Content of the sidecars that are there."""


def load_bundle(name_or_dir: str | Path) -> Bundle:
    """Read a bundle by name (of `policies/`), by its folder or a ZIP file, and check everything but its behaviour.

    Raises:
        UserError: no such bundle, or a file is missing, extra, a link, or not the one that was sealed.
    """
    folder = find_bundle(name_or_dir)
    files = read_zip(folder, MAX_BYTES, MAX_FILES) if folder.is_file() else read_files(folder)
    sidecars = {name: files.pop(name) for name in SIDECARS if name in files}
    for name in (name for name, content in sidecars.items() if len(content) > MAX_CONTRACT):
        raise UserError(f"{folder}: {name} is over {MAX_CONTRACT >> 20} MiB; it is not a bundle's.")
    contract = read_contract(folder, files)
    check_files(folder, contract, files)
    check_graphs(files)
    return Bundle(folder, bundle_id(files), contract, files, sidecars)


def is_bundle(name_or_dir: str | Path) -> bool:
    """Return True if a bundle's folder exists, by name or path, or its ZIP file."""
    folders = (Path(name_or_dir), bundles_dir() / name_or_dir)
    return any((folder / CONTRACT_FILE).is_file() for folder in folders) or _is_zip(Path(name_or_dir))


def find_bundle(name_or_dir: str | Path) -> Path:
    """The folder or ZIP file of a bundle; see `load_bundle`.

    Raises:
        UserError: there is none.
    """
    for folder in (Path(name_or_dir), bundles_dir() / name_or_dir):
        if (folder / CONTRACT_FILE).exists():
            return folder
    if _is_zip(Path(name_or_dir)):
        return Path(name_or_dir)
    if Path(name_or_dir).is_dir():
        raise UserError(
            f"{name_or_dir}: {CONTRACT_FILE} is missing; this folder is not a bundle, make one with export."
        )
    known = sorted(p.parent.name for p in bundles_dir().glob(f"*/{CONTRACT_FILE}"))
    meant = suggest(Path(name_or_dir).name, known, "bundles that ship")
    raise UserError(f"Unknown bundle {str(name_or_dir)!r}: no such folder; {meant}")


def _is_zip(path: Path) -> bool:
    return path.suffix == ".zip" and path.is_file()


def read_files(folder: Path) -> dict[str, bytes]:
    """Content of every file of a bundle folder by path.

    Raises:
        UserError: a link, something that is no file, a file that can't be read, or too many bytes.
    """
    files: dict[str, bytes] = {}
    total, paths = 0, sorted(islice(folder.rglob("*"), MAX_FILES + 1))
    if len(paths) > MAX_FILES:
        raise UserError(f"{folder}: holds over {MAX_FILES} files and folders; it is not a bundle.")
    for path in paths:
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise UserError(
                f"{folder}: {name} is a link or a special file; a bundle holds plain files, fetch it again."
            )
        if path.is_dir():
            continue
        try:
            total += path.stat().st_size
            if total > MAX_BYTES:
                raise UserError(f"{folder}: {name} takes the bundle over {MAX_BYTES >> 20} MiB; it is not a bundle.")
            files[name] = path.read_bytes()
        except OSError as error:
            raise UserError(f"{folder}: {name} can't be read ({error.strerror}); mend its permissions.") from None
    return files


def read_contract(folder: Path, files: dict[str, bytes]) -> Contract:
    """The contract out of the bytes of `bundle.json`.

    Raises:
        UserError: not JSON, a newer layout, changed since it was sealed, or against the schema.
    """
    where = str(folder / CONTRACT_FILE)
    if CONTRACT_FILE not in files:
        raise UserError(f"{folder}: {CONTRACT_FILE} is missing; this is not a bundle, make one with export.")
    if len(files[CONTRACT_FILE]) > MAX_CONTRACT:
        raise UserError(f"{where}: is over {MAX_CONTRACT >> 20} MiB; it is not a bundle's.")
    try:
        return _contract(json.loads(files[CONTRACT_FILE], parse_constant=_no_constant, object_pairs_hook=_once), where)
    except (ValueError, RecursionError):  # also numbers that are no JSON once they are read, and depths
        raise UserError(f"{where}: is not valid JSON; fetch the bundle again.") from None
    except UserError as error:
        raise UserError(str(error) if where in str(error) else f"{where}: {error}") from None


def _contract(data: object, where: str) -> Contract:
    if not is_table(data) or (seal := data.pop("seal", None)) is None:
        raise UserError(f"{where}: seal is missing; this is no sealed bundle, export it anew.")
    check_version(data, where)
    if seal != sha256_of(data):
        raise UserError(f"{where}: was changed after it was sealed; fetch the bundle again, or export it anew.")
    newest = migrate(data, where)
    check_schema({**newest, "seal": seal}, where)
    _find_features(newest, where)
    return build(Contract, newest, where)


def _find_features(data: JsonObject, where: str) -> None:
    """Import the modules that register a contract's features; the contract's scenario names their task.

    Raises:
        UserError: a feature is missing here, for a reason that is known.
    """
    fields = table_in(table_in(data, "observation"), "spec")["fields"]
    names = [str(field["name"]) for field in fields if is_table(field)] if is_list(fields) else []
    why = find_features(names, table_in(table_in(data, "scenario"), "content"))
    if missing := [name for name in names if name not in FEATURES and why]:
        raise UserError(f"{where}: Observation field {missing[0]!r} is not known here. {why}")


class SchemaError(Protocol):
    """A fault that `jsonschema` has found."""

    json_path: str
    message: str
    validator: object


def check_schema(data: object, where: str) -> None:
    """Validate against `policies/bundle.schema.json`, where jsonschema is installed: `build` checks types without it.

    Raises:
        UserError: names the key that is wrong.
    """
    try:
        best_match: Callable[[Iterator[SchemaError]], SchemaError | None]
        best_match = import_module("jsonschema.exceptions").best_match
    except ImportError:
        return
    error = best_match(islice(_validator()(data), MAX_ERRORS))
    if error is not None:
        key = error.json_path.removeprefix("$.").removeprefix("$") or "the file"
        message = error.message if len(error.message) < 200 else f"against the schema's rule {error.validator!r}"
        raise UserError(f"{where}: {key}: {message}; fetch the bundle again, or export it anew.")


def prepare() -> None:
    """Load the JSON schema validator, which takes long, before the first bundle is read."""
    with suppress(ImportError):
        _validator()


@cache
def _validator() -> Callable[[object], Iterator[SchemaError]]:
    schema = json.loads((bundles_dir() / "bundle.schema.json").read_text())
    return import_module("jsonschema").Draft202012Validator(schema).iter_errors


def check_files(folder: Path, contract: Contract, files: dict[str, bytes]) -> None:
    """Compare every file with its entry in the contract.

    Raises:
        UserError: names the file that is missing, extra or changed.
    """
    if twins := twins_of({*contract.files, *files, CONTRACT_FILE, *SIDECARS}):
        raise UserError(
            f"{folder}: {twins[0]} and {twins[1]} are one file where upper and lower case are not told apart (macOS, "
            "Windows, memory cards), so one would replace the other; export the bundle with other names."
        )
    seeing = (PERCEPTION_FILE, IMAGES_FILE) if contract.image else ()
    for name in (*REQUIRED, *seeing, *contract.files):
        if name not in contract.files:
            raise UserError(f"{folder / CONTRACT_FILE}: files has no entry for {name}; export the bundle anew.")
        if name not in files:
            raise UserError(f"{folder}: {name} is missing; fetch the bundle again.")
        if entry_of(files[name]) != contract.files[name]:
            raise UserError(
                f"{folder}: {name} is not the file that was sealed "
                f"({_difference(contract.files[name], files[name])}); fetch the bundle again."
            )
    if stray := [] if seeing else [name for name in (PERCEPTION_FILE, IMAGES_FILE) if name in files]:
        raise UserError(f"{folder / CONTRACT_FILE}: image is missing, and {stray[0]} is there; export the bundle anew.")
    extra = sorted(set(files) - set(contract.files) - {CONTRACT_FILE})
    if extra:
        raise UserError(f"{folder}: {extra[0]} does not belong to the bundle; remove it.")


def twins_of(names: Iterable[str]) -> tuple[str, str] | None:
    """Return two paths, or two of their folders, that differ in case only, or None. Some file systems take
    them for one."""
    seen: dict[str, str] = {}
    for path in sorted(names):
        parts = path.split("/")
        for name in ("/".join(parts[:count]) for count in range(1, len(parts) + 1)):
            if (twin := seen.setdefault(name.casefold(), name)) != name:
                return twin, name
    return None


def check_graphs(files: dict[str, bytes]) -> None:
    """Check every ONNX graph of a bundle, including graphs that no robot opens; see `check_onnx`.

    Raises:
        UserError: a graph contains something that a bundle must not have.
    """
    for name, content in files.items():
        if name.endswith(".onnx"):
            check_onnx(content, name, graph_kind(name))


def graph_kind(name: str) -> Kind:
    """Return the kind of graph that a file of a bundle holds."""
    kinds: dict[str, Kind] = {FILTERED_FILE: "filter", PERCEPTION_FILE: "vision"}
    return kinds.get(name, "policy")


def written_version(bundle: Bundle) -> int:
    """The schema_version of the sealed file itself, before it was migrated."""
    return int(json.loads(bundle.files[CONTRACT_FILE])["schema_version"])


def seal(contract: Contract) -> bytes:
    """The bytes of `bundle.json`."""
    data = to_dict(contract)
    return (json.dumps({**data, "seal": sha256_of(data)}, indent=1, allow_nan=False) + "\n").encode()


def entry_of(content: bytes) -> FileEntry:
    """Hash and size of a file's content."""
    return FileEntry(hashlib.sha256(content).hexdigest(), len(content))


def bundle_id(files: dict[str, bytes]) -> str:
    """Sha256 over the canonical manifest of all files; sidecars are not among them."""
    return sha256_of({name: entry_of(content) for name, content in files.items()})


def _difference(entry: FileEntry, content: bytes) -> str:
    return f"{len(content)} bytes, not {entry.size}" if len(content) != entry.size else "its sha256 differs"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build a dict from JSON pairs. A duplicate key is an error: some readers take its first value, Python the last."""
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a key is there twice")
    return data


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
