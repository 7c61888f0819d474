"""`NodeStatus`: status of a running policy node in its robot's folder, over a socket and without ROS.

node.sock   answers every connection with one line of JSON; without a running node there is no answer
"""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from robomarl import __version__
from robomarl.core.config import UserError, build
from robomarl.fleet.disk import make_folder

SOCKET = "node.sock"
MAX_LINE = 2**14
ANSWER_S = 1.0
"""Time [s] within which a node answers; a node that loads a bundle answers later, and runs all the while."""


@dataclass(frozen=True)
class NodeStatus:
    """Status of a policy node."""

    bundle_id: str = ""
    """Id of the bundle with which it is configured; empty if it is not."""
    tried_id: str = ""
    """Id of the bundle that it tried last because of a flash; empty for none."""
    state: str = "UNCONFIGURED"
    """State of its state machine."""
    ticks: int = 0
    """Number of ticks since it was configured."""
    problem: str = ""
    """Reason why it is not configured with the bundle that it tried, or does not tick."""
    robomarl: str = __version__


class BusyError(UserError):
    """A node runs, and has no time to answer now."""


class StatusServer:
    """The node's end of the socket; `tell` answers all clients that have connected since, and never waits."""

    def __init__(self, root: Path) -> None:
        """Listen in a robot's folder, instead of a node that has ended.

        Raises:
            UserError: another node does, or the folder can't be written.
        """
        self._root = root
        with suppress(BusyError):
            if read_status(root) is None:
                self._socket = self._listening()
                return
        raise UserError(f"{root}: another policy node has this folder; end one of the two.")

    def tell(self, status: NodeStatus) -> None:
        """Answer all waiting clients."""
        while True:
            try:
                link, _ = self._socket.accept()
            except OSError:
                return
            with link, suppress(OSError):
                link.setblocking(False)
                link.send(json.dumps(asdict(status)).encode()[:MAX_LINE] + b"\n")

    def close(self) -> None:
        """Close and remove the socket; no client is answered any more."""
        self._socket.close()
        with suppress(OSError):
            (self._root / SOCKET).unlink()

    def _listening(self) -> socket.socket:
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            make_folder(self._root)
            (self._root / SOCKET).unlink(missing_ok=True)
            with _address(self._root) as address:
                made.bind(address)
            (self._root / SOCKET).chmod(0o600)
            made.listen(8)
            made.setblocking(False)
        except OSError as error:
            made.close()
            raise UserError(f"{self._root / SOCKET}: can't be made ({error.strerror}); mend the folder.") from None
        return made


def read_status(root: Path) -> NodeStatus | None:
    """Return the status of a robot's node; None if none runs.

    Raises:
        BusyError: a node runs, and did not answer in time.
        UserError: its answer can't be understood.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(ANSWER_S)
        try:
            with _address(root) as address:
                link.connect(address)
            said = b""
            while len(said) < MAX_LINE and (part := link.recv(2**12)):
                said += part
        except (TimeoutError, BlockingIOError):
            raise BusyError(f"{root}: its policy node does not answer; look at its log.") from None
        except OSError:
            return None
    if not said:
        return None
    try:
        return build(NodeStatus, json.loads(said), str(root / SOCKET))
    except (ValueError, RecursionError):
        raise UserError(f"{root / SOCKET}: what answers there is no policy node; look at the robot.") from None


@contextmanager
def _address(root: Path) -> Iterator[str]:
    """Yield the address of the socket; by the folder's descriptor, because an address has room for a hundred letters
    only.
    """
    if not Path("/proc/self/fd").exists():
        yield str(root / SOCKET)
        return
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)
