"""`McapFile`: messages of an MCAP file in the order of their log times, for any order in the file.

MCAP allows any order: tools that merge, filter or sort write chunks that overlap, or messages that
go back in time. The file is read twice. First as a whole, for the channels, for damaged parts and
for the time at which each piece begins; then piece by piece in the order of these times. Only
pieces that overlap are in memory at once.
"""

from bisect import bisect_left
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

import yaml
from mcap.exceptions import EndOfFile, UnsupportedCompressionError
from mcap.records import Channel, Chunk, McapRecord, Message, Metadata, Schema
from mcap.stream_reader import MAGIC_SIZE, StreamReader, breakup_chunk

from robomarl.core.config import UserError
from robomarl.ros.recording.bag_writer import OURS
from robomarl.ros.recording.stored import StoredMessage, opened, plain

ROSBAG2 = "rosbag2"
"""Name of the metadata record in which rosbag2 repeats its metadata.yaml."""
COMPRESSIONS = ("", "lz4", "zstd")
LOOSE_BYTES = 1 << 20
"""Messages outside of chunks are read together up to this size."""


class FilePiece(NamedTuple):
    """A part of the file that is read at once: a chunk, or messages outside of chunks."""

    first_ns: int
    """Earliest log time in it."""
    begin: int
    """Offset of its first byte."""
    end: int
    is_chunk: bool


class McapFile:
    """See the module."""

    def __init__(self, path: Path) -> None:
        """Read the file once.

        Raises:
            UserError: a module that unpacks it is missing.
        """
        self.path = path
        self.topics: dict[str, str] = {}
        """Type by topic."""
        self.about: dict[str, str] = {}
        """Recorder's data on fleet, bundles and nodes."""
        self.problems: list[str] = []
        """Parts that cannot be read, a sentence each."""
        self.data_bytes = 0
        """Length of all messages together."""
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, str] = {}
        self._kinds: dict[int, int] = {}
        self._pieces: list[FilePiece] = []
        with opened(path) as stream:
            self._scan(stream)
        self._pieces.sort()
        self.topics = {topic: self._kind(channel) for channel, topic in self._channels.items()}

    @property
    def first_ns(self) -> int:
        """Time of the first message; 0 without any."""
        return self._pieces[0].first_ns if self._pieces else 0

    def messages(self) -> Iterator[StoredMessage]:
        """Yield all messages in order."""
        waiting: list[StoredMessage] = []
        with opened(self.path) as stream:
            for piece in self._pieces:
                waiting.sort()
                safe = bisect_left(waiting, (piece.first_ns,))
                yield from waiting[:safe]
                waiting = waiting[safe:]
                waiting += self._read(stream, piece)
        waiting.sort()
        yield from waiting

    def _read(self, stream: BinaryIO, piece: FilePiece) -> Iterator[StoredMessage]:
        stream.seek(piece.begin)
        inside = StreamReader(BytesIO(stream.read(piece.end - piece.begin)), skip_magic=True, record_size_limit=None)
        try:
            for record in inside.records:
                if isinstance(record, Message) and (topic := self._channels.get(record.channel_id)):
                    data, kind = plain(record.data, self.path), self._kind(record.channel_id)
                    yield StoredMessage(record.log_time, topic, record.sequence, record.publish_time, data, kind)
        except EndOfFile:  # of the piece: a reader without magic looks for no end
            return

    def _scan(self, stream: BinaryIO) -> None:
        try:
            for record, begin, end in _placed(stream):
                self._note(record, begin, end)
        except UserError:
            raise
        except Exception as error:  # damaged bytes make the parser stumble anywhere, over any kind
            why = str(error) or type(error).__name__
            self.problems.append(f"{self.path}: can't be read to its end ({why}); the rest of it is missing here.")

    def _note(self, record: McapRecord, begin: int, end: int) -> None:
        if isinstance(record, Chunk):
            inside = self._inside(record)
            times = [self._measure(part) for part in inside if isinstance(part, Message)]
            for part in inside:
                self._describe(part)
            if times:
                self._pieces.append(FilePiece(min(times), begin, end, True))
        elif isinstance(record, Message):
            piece = FilePiece(self._measure(record), begin, end, False)
            last = self._pieces[-1] if self._pieces else piece
            if not last.is_chunk and last.end == begin and end - last.begin <= LOOSE_BYTES:
                self._pieces[-1] = last._replace(first_ns=min(last.first_ns, piece.first_ns), end=end)
            else:
                self._pieces.append(piece)
        else:
            self._describe(record)

    def _measure(self, message: Message) -> int:
        self.data_bytes += len(message.data)
        return message.log_time

    def _inside(self, chunk: Chunk) -> list[McapRecord]:
        """Return the records of a chunk; none of a damaged one, of which only its own records are lost."""
        try:
            if chunk.compression not in COMPRESSIONS:
                raise UnsupportedCompressionError(chunk.compression)
            return breakup_chunk(chunk, validate_crc=True)
        except UnsupportedCompressionError as error:
            raise UserError(
                f"{self.path}: its chunks are compressed with {chunk.compression} ({error}); "
                "install its Python module, or write the file anew: mcap compress --compression none."
            ) from None
        except Exception as error:  # of any kind, as above
            why = type(error).__name__
            self.problems.append(f"{self.path}: a part of it is damaged ({why}); its messages are missing here.")
            return []

    def _describe(self, record: McapRecord) -> None:
        if isinstance(record, Schema):
            self._schemas[record.id] = record.name
        elif isinstance(record, Channel):
            self._channels[record.id], self._kinds[record.id] = record.topic, record.schema_id
        elif isinstance(record, Metadata) and record.name == OURS:
            self.about |= record.metadata
        elif isinstance(record, Metadata) and record.name == ROSBAG2:
            self.about |= custom_data(record.metadata.get("serialized_metadata", ""))

    def _kind(self, channel: int) -> str:
        return self._schemas.get(self._kinds[channel], "")


class _Whole:
    """A stream that gives all bytes that are asked for, or raises: the reader takes half a record for a whole one."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = stream.seek(0, 2)
        stream.seek(0)

    def read(self, length: int) -> bytes:
        """Return `length` bytes; raise `EndOfFile` if fewer are left."""
        if length > self._left:
            raise EndOfFile()
        self._left -= length
        return self._stream.read(length)


def _placed(stream: BinaryIO) -> Iterator[tuple[McapRecord, int, int]]:
    """Records outside of chunks, and chunks, with where they begin and end."""
    begin = MAGIC_SIZE
    whole = _Whole(stream)
    for record in StreamReader(whole, emit_chunks=True, record_size_limit=None).records:  # type: ignore[arg-type]
        end = stream.tell()
        yield record, begin, end
        begin = end


def custom_data(text: str) -> dict[str, str]:
    """Return the recorder's additions to the metadata of rosbag2; empty if the text is no such metadata."""
    try:
        found = (yaml.safe_load(text) or {}).get("custom_data") or {}
        return {str(key): str(value) for key, value in found.items()}
    except (yaml.YAMLError, AttributeError):
        return {}
