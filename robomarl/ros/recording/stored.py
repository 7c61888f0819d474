"""`StoredMessage`: one message of a recording as a file has it; and the compression of files and of single messages."""

import tempfile
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, NamedTuple, cast

from robomarl.core.config import UserError

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
BLOCK_BYTES = 1 << 20


class StoredMessage(NamedTuple):
    """One message. Tuples compare in the order of the fields, which is the order in which a recording is read.

    The sequence goes before the time of publication: a clock that is set back changes the second and not the first.
    """

    log_ns: int
    """When the recorder received it, since the epoch."""
    topic: str
    """Absolute name."""
    sequence: int
    """Sequence number in the channel; 0 if the writer does not count."""
    sent_ns: int
    """When it was published; `log_ns` where the file does not say it."""
    data: bytes
    """Serialized (CDR)."""
    kind: str
    """Type, as in "nav_msgs/msg/Odometry"."""


def is_zstd(path: Path) -> bool:
    """Return True if a file is compressed as a whole, under any name."""
    with path.open("rb") as stream:
        return stream.read(4) == ZSTD_MAGIC


def opened(path: Path) -> BinaryIO:
    """The content of a file, which can be sought in; unpacked into a temporary file if it is compressed as a whole.

    The content of a compressed file that was cut short, or is damaged, ends behind its last whole block.

    Raises:
        UserError: the module zstandard is missing.
    """
    if not is_zstd(path):
        return path.open("rb")
    unpacked, zstd = cast(BinaryIO, tempfile.TemporaryFile()), _zstandard(path)
    with path.open("rb") as packed, suppress(zstd.ZstdError):
        reader = zstd.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
        while block := reader.read(BLOCK_BYTES):
            unpacked.write(block)
    unpacked.seek(0)
    return unpacked


def plain(data: bytes, path: Path) -> bytes:
    """The bytes of a message, unpacked if rosbag2 has compressed it (`compression_mode: message`); as they are if they
    are damaged, so that the reader of the message says so."""
    if data[:4] != ZSTD_MAGIC:
        return data
    zstd = _zstandard(path)
    with suppress(zstd.ZstdError):
        return zstd.ZstdDecompressor().decompressobj().decompress(data)
    return data


def _zstandard(path: Path) -> ModuleType:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise UserError(
            f"{path}: is compressed with zstd; run: pip install zstandard, or unpack it: zstd -d."
        ) from None
    return zstandard
