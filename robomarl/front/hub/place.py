"""`Place`: an address at which bundles lie, as a file system of fsspec and a path in it.

Options of a file system come from its own environment variables, such as AWS_ENDPOINT_URL and AWS_PROFILE of S3, or
HF_TOKEN of the Hugging Face Hub. fsspec reads FSSPEC_S3_ANON and the like.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robomarl.core.config import UserError, printable

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

CHUNK = 2**20
"""Bytes that are fetched at a time; an interruption loses at most these."""
EXTRAS = {"s3": "s3", "s3a": "s3", "hf": "hf", "http": "hub", "https": "hub"}
"""Extra of robomarl that brings the file system of a protocol."""
READ_ONLY = ("http", "https")
"""Protocols to which nothing can be written."""


@dataclass(frozen=True)
class Place:
    """A folder, or one file, at an address. Made by `open_place`."""

    url: str
    """Address as it was given, for people."""
    files: "AbstractFileSystem"
    root: str
    """Path in the file system."""

    def below(self, name: str) -> "Place":
        """Return the place of a file or folder below this one."""
        return Place(f"{self.url}/{name}", self.files, f"{self.root}/{name}")

    @property
    def is_read_only(self) -> bool:
        """True if nothing can be written there."""
        return self.url.partition("://")[0] in READ_ONLY

    def read(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield (offset, part of the file) from an offset on; from 0 on where the server can't begin in the middle.

        Raises:
            FileNotFoundError: there is no such file.
            UserError: it can't be read.
        """
        with self._told("read"), self.files.open(self.root, "rb", block_size=CHUNK, cache_type="none") as stream:
            try:
                at = stream.seek(start) if start else 0
            except (ValueError, OSError):  # a server without ranges sends the whole file
                at = 0
            while part := stream.read(CHUNK):
                assert isinstance(part, bytes)  # the file was opened for bytes
                yield at, part
                at += len(part)

    def content(self, most: int) -> bytes | None:
        """Return the content of a small file; None if there is none.

        Args:
            most: largest size [bytes].

        Raises:
            UserError: it can't be read, or is larger.
        """
        found = b""
        try:
            for _, part in self.read():
                found += part
                if len(found) > most:
                    raise UserError(f"{self.url}: is over {most} bytes; it is not a bundle's.")
        except FileNotFoundError:
            return None
        return found

    def write(self, content: bytes) -> None:
        """Write a file, and the folders above it where the store has folders.

        Raises:
            UserError: it can't be written.
        """
        with self._told("written"):
            self.files.makedirs(self.root.rpartition("/")[0], exist_ok=True)
            self.files.pipe_file(self.root, content)

    def names(self) -> list[str]:
        """Return the paths of all files below this folder, relative to it; none where there is no folder.

        Raises:
            UserError: it can't be listed.
        """
        with self._told("listed"):
            self.files.invalidate_cache()
            found = self.files.find(self.root) if self.files.exists(self.root) else []
        prefix = self.root.rstrip("/") + "/"
        return [path.removeprefix(prefix) for path in found if path.startswith(prefix)]

    def remove(self) -> None:
        """Remove a file.

        Raises:
            UserError: it can't be removed.
        """
        with self._told("removed"):
            self.files.rm_file(self.root)

    @contextmanager
    def _told(self, done: str) -> Iterator[None]:
        """Errors of the library as one sentence; each file system has its own classes of errors."""
        try:
            yield
        except UserError:
            raise
        except Exception as error:
            if isinstance(error, FileNotFoundError) and not is_network_error(error.__cause__):
                raise
            error = error.__cause__ if isinstance(error, FileNotFoundError) and error.__cause__ else error
            words = printable(str(error)).splitlines()
            why = words[0][:200] if words else type(error).__name__
            mend = "check the address, the network and your rights there, and run the command again"
            raise UserError(f"{self.url}: can't be {done} ({why}); {mend}.") from error


def is_network_error(cause: BaseException | None) -> bool:
    """Return True if fsspec says "not found" because a web server did not answer, or answered other than 404."""
    of_http = cause is not None and type(cause).__module__.startswith("aiohttp")
    return of_http and getattr(cause, "status", 0) not in (404, 410)


def open_place(url: str) -> Place:
    """Return the place of an address: a path, or `PROTOCOL://...` of any file system that fsspec knows.

    Raises:
        UserError: fsspec, or the package that it needs for the protocol, is not installed; or no such protocol.
    """
    protocol = url.partition("://")[0] if "://" in url else "file"
    extra = EXTRAS.get(protocol, "hub")
    try:
        from fsspec.core import url_to_fs

        files, root = url_to_fs(url.rstrip("/"))
    except ImportError as error:
        why = printable(str(error)).splitlines()[0]
        raise UserError(f"{url}: {why}; run: pip install 'robomarl[{extra}]'.") from None
    except Exception as error:  # each file system has its own classes of errors
        why = printable(str(error)).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"{url}: is no address of a bundle ({why}); name a folder, or s3://, https:// or hf://."
        ) from None
    return Place(url.rstrip("/"), files, root.rstrip("/"))
