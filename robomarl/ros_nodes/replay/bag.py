"""`Bag`: the messages of a recording in the order in which they were received, as bytes.

Read as a stream, so that a bag may be larger than the memory, and one that was cut short gives all that it holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import yaml
from mcap.records import Channel, Chunk, McapRecord, Message, Schema
from mcap.stream_reader import StreamReader, breakup_chunk

from robomarl.config import UserError


class RecordedMessage(NamedTuple):
    """One recorded message."""

    topic: str
    """Its absolute name."""
    received_s: float
    data: bytes
    """Serialized (CDR)."""


@dataclass
class Bag:
    """A folder as rosbag2 writes it."""

    folder: Path
    files: list[Path]
    about: dict[str, str]
    """What the recorder wrote of fleet, bundles and nodes."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Type of each topic that has been met."""
    held: dict[Path, set[str]] = field(default_factory=dict)
    """Topics of each file that has been read."""
    problems: list[str] = field(default_factory=list)
    """What could not be read so far, a sentence each."""

    def messages(self) -> Iterator[RecordedMessage]:
        """All of them; what is damaged, or behind the end of a file that was cut short, is noted in `problems`."""
        for file in self.files:
            try:
                yield from self._of(file)
            except Exception as error:  # damaged bytes make the parser stumble anywhere, over any kind
                why = str(error) or type(error).__name__
                self.problems.append(f"{file}: can't be read to its end ({why}); the rest of it is missing here.")

    def _of(self, file: Path) -> Iterator[RecordedMessage]:
        names: dict[int, str] = {}
        schemas: dict[int, str] = {}
        with file.open("rb") as stream:
            for record in self._records(file, stream):
                if isinstance(record, Message) and record.channel_id in names:
                    yield RecordedMessage(names[record.channel_id], record.log_time * 1e-9, record.data)
                elif isinstance(record, Schema):
                    schemas[record.id] = record.name
                elif isinstance(record, Channel):
                    names[record.id] = record.topic
                    self.held.setdefault(file, set()).add(record.topic)
                    self.kinds[record.topic] = schemas.get(record.schema_id, "")

    def _records(self, file: Path, stream: BinaryIO) -> Iterator[McapRecord]:
        """Chunks are opened one by one, so that a damaged one costs no more than what is in it."""
        for record in StreamReader(stream, emit_chunks=True, record_size_limit=None).records:
            if not isinstance(record, Chunk):
                yield record
                continue
            try:
                inside = breakup_chunk(record, validate_crc=True)
            except Exception as error:  # of any kind, as below
                why = type(error).__name__
                self.problems.append(f"{file}: a part of it is damaged ({why}); its messages are missing here.")
                continue
            yield from inside


def open_bag(path: Path) -> Bag:
    """A recording by its folder, or by one of its files.

    Raises:
        UserError: there is none.
    """
    folder = path.parent if path.is_file() else path
    if not folder.is_dir():
        raise UserError(f"{path}: there is no such recording; name the folder that holds its .mcap files.")
    about = _about(folder / "metadata.yaml")
    files = _files(folder, about.get("relative_file_paths") or [])
    if not files:
        other = "; convert it: ros2 bag convert" if any(folder.glob("*.db3")) else ""
        raise UserError(f"{path}: holds no .mcap file, so it is no recording that can be read here{other}.")
    if not any(file.stat().st_size for file in files):
        raise UserError(f"{folder}: its files are empty; nothing was recorded.")
    return Bag(folder, files, {str(key): str(value) for key, value in (about.get("custom_data") or {}).items()})


def _files(folder: Path, told: list[str]) -> list[Path]:
    """In the order of the metadata; what it does not name yet comes behind, by number."""
    found = sorted(folder.glob("*.mcap"), key=lambda file: (len(file.name), file.name))
    rank = {name: i for i, name in enumerate(told)}
    return sorted(found, key=lambda file: rank.get(file.name, len(rank)))


def _about(file: Path) -> dict[str, Any]:
    try:
        read = yaml.safe_load(file.read_text())
    except OSError:
        return {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: is no YAML ({type(error).__name__}); write it anew: ros2 bag reindex.") from None
    inside = read.get("rosbag2_bagfile_information") if isinstance(read, dict) else None
    if not isinstance(inside, dict):
        raise UserError(f"{file}: has no rosbag2_bagfile_information; write it anew: ros2 bag reindex.")
    return inside
