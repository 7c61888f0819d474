"""A web server of files on this machine: with or without ranges, and with a line that breaks."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BREAKS: dict[str, int] = {}
"""Number of bytes of a file, by the end of its path, after which the connection breaks once."""


class Plain(SimpleHTTPRequestHandler):
    """Python's own, which knows no ranges."""

    def log_message(self, *words: object) -> None:
        """Say nothing."""

    def copyfile(self, source, outputfile) -> None:
        content = source.read()
        most = next((BREAKS.pop(end) for end in list(BREAKS) if self.path.endswith(end)), len(content))
        outputfile.write(content[:most])
        self.close_connection = True


class Ranged(Plain):
    """With ranges from an offset on."""

    def send_head(self):
        head = super().send_head()
        asked = self.headers.get("Range", "")
        if head is not None and asked and self.command == "GET":
            head.seek(self.start)
        return head

    def send_response(self, code: int, message: str | None = None) -> None:
        first, _, last = self.headers.get("Range", "").removeprefix("bytes=").partition("-")
        self.start, self.last = int(first or 0), last
        super().send_response(206 if first and code == 200 and self.command == "GET" else code, message)

    def send_header(self, keyword: str, value: str) -> None:
        if keyword == "Content-Length" and self.headers.get("Range") and self.command == "GET":
            size = int(value)
            super().send_header("Content-Range", f"bytes {self.start}-{size - 1}/{size}")
            value = str(size - self.start)
        super().send_header(keyword, value)

    def end_headers(self) -> None:
        super().send_header("Accept-Ranges", "bytes")
        super().end_headers()


@contextmanager
def served(folder: Path, handler: type[Plain]) -> Iterator[str]:
    """Yield the address of a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
