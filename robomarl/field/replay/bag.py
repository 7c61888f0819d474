"""`Bag`: the messages of a recording in the order of the times at which they were received, as bytes.

The order is that of the log times, then of topics, sequence numbers and contents. So it depends on
neither the order within the files, nor their number, names, chunks, compression or kind. Read as a
stream: a bag may be larger than the memory, as long as the data that overlap in time fit into it;
and one that was cut short gives all that it holds.
"""

import hashlib
import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import yaml

from robomarl.core.config import UserError
from robomarl.ros.recording.mcap_file import McapFile
from robomarl.ros.recording.sqlite_file import SqliteFile
from robomarl.ros.recording.stored import StoredMessage

PACKED = (".zstd", ".zst")
"""Endings of files that are compressed as a whole."""
METADATA = "metadata.yaml"


class RecordedMessage(NamedTuple):
    """One recorded message."""

    topic: str
    """Its absolute name."""
    received_s: float
    data: bytes
    """Serialized (CDR)."""
    kind: str = ""
    """Its type."""


@dataclass
class Bag:
    """A folder as rosbag2 writes it, or files of one."""

    folder: Path
    sources: list[McapFile | SqliteFile]
    about: dict[str, str]
    """Entries of the recorder about fleet, bundles and nodes."""
    problems: list[str] = field(default_factory=list)
    """Sentences on data that could not be read so far."""

    @property
    def files(self) -> list[Path]:
        """Paths of its files."""
        return [source.path for source in self.sources]

    @property
    def kinds(self) -> dict[str, str]:
        """Type of each topic."""
        return {topic: kind for source in self.sources for topic, kind in source.topics.items()}

    @property
    def data_bytes(self) -> int:
        """Length of all messages together."""
        return sum(source.data_bytes for source in self.sources)

    def messages(self) -> Iterator[RecordedMessage]:
        """Yield all messages, each once; problems with unreadable ones are added to `problems`."""
        for stored in self._stored():
            yield RecordedMessage(stored.topic, stored.log_ns * 1e-9, stored.data, stored.kind)

    def digest(self) -> str:
        """Return the SHA-256 of topics, times and contents of all messages: it identifies the recording,
        however it is stored.
        """
        total = hashlib.sha256()
        for stored in self._stored():
            total.update(f"{stored.topic} {stored.log_ns} {len(stored.data)} ".encode())
            total.update(stored.data)
        return total.hexdigest()

    def _stored(self) -> Iterator[StoredMessage]:
        at_ns, seen, copies = None, set[tuple[str, int, bytes]](), 0
        for stored in heapq.merge(*(source.messages() for source in self.sources)):
            if stored.log_ns != at_ns:
                at_ns, seen = stored.log_ns, set()
            if (known := (stored.topic, stored.sent_ns, stored.data)) in seen:
                copies += 1
                continue
            seen.add(known)
            yield stored
        self._note([problem for source in self.sources for problem in source.problems])
        if copies:
            self._note([f"{self.folder}: {copies} messages are in it more than once; each counts once."])

    def _note(self, problems: list[str]) -> None:
        self.problems += [problem for problem in problems if problem not in self.problems]


def open_bag(path: Path) -> Bag:
    """A recording by its folder, or by one of its files.

    Raises:
        UserError: there is none.
    """
    folder = path.parent if path.is_file() else path
    if not folder.is_dir():
        raise UserError(f"{path}: there is no such recording; name the folder that holds its .mcap files.")
    told, files = _told_and_files(path, folder)
    if not files:
        raise UserError(f"{path}: holds no .mcap file, so it is no recording that can be read here.")
    if not any(file.stat().st_size for file in files):
        raise UserError(f"{folder}: its files are empty; nothing was recorded.")
    sources = [_source(file) for file in files]
    about: dict[str, str] = {}
    for source in sorted(sources, key=lambda source: (source.first_ns, source.path.name)):
        about |= source.about  # of a recording in several files the last one knows most
    about |= told.about
    problems = [problem for source in sources for problem in source.problems]
    here = {_plain_name(file) for file in files}
    gone = [name for name in told.files if _plain_name(Path(name)) not in here]
    problems += [f"{folder / name}: is named in {METADATA} and is not here; its messages are missing." for name in gone]
    return Bag(folder, sources, about, problems)


class _Told(NamedTuple):
    """Content of a metadata.yaml."""

    files: list[str]
    """Names, without folders: early versions of rosbag2 put the bag's own folder before them."""
    about: dict[str, str]


def _told_and_files(path: Path, folder: Path) -> tuple[_Told, list[Path]]:
    """Return the metadata of a recording, and its files in the order of the metadata, then by number.

    A file that is named is read with those that differ from it in the number at the end only, as
    rosbag2 splits recordings. The metadata of its folder are not its own if they name none of these.
    """
    told = _told(folder / METADATA)
    found = _unpacked_first([file for file in folder.iterdir() if _is_recording(file)])
    if any(".mcap" in file.suffixes for file in found):
        found = [file for file in found if ".mcap" in file.suffixes]
    if path.is_file() and path.name != METADATA:
        found = [file for file in found if _series(file) == _series(path)]
        told = told if _series(path) in {_series(Path(name)) for name in told.files} else _Told([], {})
    rank = {_plain_name(Path(name)): i for i, name in enumerate(told.files)}
    found.sort(key=lambda file: (rank.get(_plain_name(file), len(rank)), len(file.name), file.name))
    return told, found


def _source(file: Path) -> McapFile | SqliteFile:
    return SqliteFile(file) if ".db3" in file.suffixes else McapFile(file)


def _is_recording(file: Path) -> bool:
    return file.is_file() and _plain_name(file).endswith((".mcap", ".db3"))


def _unpacked_first(files: list[Path]) -> list[Path]:
    """One file of each that is there unpacked as well: the unpacked one."""
    by_name = {_plain_name(file): file for file in sorted(files, key=lambda file: -len(file.name))}
    return list(by_name.values())


def _plain_name(file: Path) -> str:
    """The name of a file without the ending of a compression."""
    return file.stem if file.suffix in PACKED else file.name


def _series(file: Path) -> str:
    """Return the common part of the names of a recording's files: "a" of a_0.mcap and a_1.mcap."""
    return re.sub(r"_\d+(?=\.\w+$)", "", _plain_name(file))


def _told(file: Path) -> _Told:
    """Return the content of metadata.yaml; empty if there is none.

    Raises:
        UserError: it can't be read.
    """
    mend = "write it anew: ros2 bag reindex, or move it away"
    try:
        read = yaml.safe_load(file.read_text())
    except OSError:
        return _Told([], {})
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: is no YAML ({type(error).__name__}); {mend}.") from None
    inside = read.get("rosbag2_bagfile_information") if isinstance(read, dict) else None
    if not isinstance(inside, dict):
        raise UserError(f"{file}: has no rosbag2_bagfile_information; {mend}.")
    names, about = inside.get("relative_file_paths") or [], inside.get("custom_data") or {}
    if not isinstance(names, list) or not isinstance(about, dict):
        raise UserError(f"{file}: relative_file_paths must be a list, and custom_data a table; {mend}.")
    return _Told([Path(str(name)).name for name in names], {str(key): str(value) for key, value in about.items()})
