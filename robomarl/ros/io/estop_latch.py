"""`EstopLatch`: an E-stop that outlives its process, a full disk and a power cut. No ROS here.

The file is made when the node is configured, long before it is needed. A press then overwrites
eight bytes in place, which needs no room. Any content other than the full word for released counts
as pressed.
"""

import os
import stat
import time
from contextlib import suppress
from pathlib import Path

from robomarl.fleet.disk import sync_folder

RELEASED, PRESSED = b"released", b"pressed."
"""Contents of the file, of equal length."""
MODE = 0o644
RETRY_S = 1.0
"""Minimum interval [s] between attempts to write a state that could not be written."""


class EstopLatch:
    """E-stop latch in one file. Never raises: `problem` reports disk errors."""

    def __init__(self, file: Path | None) -> None:
        """Read it, and make it if there is none; without a file nothing outlives the process."""
        self._file, self._tried_s = file, 0.0
        self.problem = ""
        """Why the latch is not on the disk as it should be."""
        self.pressed = False
        """True if the latch holds an E-stop."""
        if file is None:
            return
        try:
            self.pressed = not _is_released(file)
        except FileNotFoundError:
            self._write(False)
        except OSError as error:
            self.pressed, self.problem = True, _said(file, error)

    def hold(self, pressed: bool) -> None:
        """Keep an E-stop, or forget it; cheap where nothing has changed."""
        waits = time.monotonic() - self._tried_s < RETRY_S
        if self._file is None or pressed == self.pressed and (not self.problem or waits):
            return
        self.pressed = pressed
        self._write(pressed)

    def _write(self, pressed: bool) -> None:
        assert self._file is not None
        self._tried_s = time.monotonic()
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT, MODE)
            try:
                with suppress(OSError):  # of another user; the next start looks again
                    os.fchmod(descriptor, MODE)
                os.pwrite(descriptor, PRESSED if pressed else RELEASED, 0)
                os.ftruncate(descriptor, len(PRESSED))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            sync_folder(self._file.parent)
            self.problem = ""
        except OSError as error:
            self.problem = _said(self._file, error)


def _is_released(file: Path) -> bool:
    """True if a plain file that only its owner writes says so in full; a link may lead to another robot's file.

    Raises:
        OSError: there is no file, it can't be read, or it is a link.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        mode = os.fstat(descriptor).st_mode
        own = stat.S_ISREG(mode) and not mode & (stat.S_IWGRP | stat.S_IWOTH)
        return own and os.read(descriptor, len(RELEASED) + 1) == RELEASED
    finally:
        os.close(descriptor)


def _said(file: Path, error: OSError) -> str:
    return f"{file}: the E-stop can't be kept ({error.strerror}); mend the disk, a restart may forget it"
