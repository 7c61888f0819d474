"""Who goes before others on a machine. No ROS here."""

import os
from contextlib import suppress
from pathlib import Path

URGENT = -10
"""Niceness of a control loop."""


def hurry() -> None:
    """Go before other programs of this machine, where the system allows that (root, or CAP_SYS_NICE)."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, URGENT)
    # Linux may share the processor between sessions first (sched_autogroup); niceness then counts within one only.
    if os.getsid(0) == os.getpid():
        with suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(URGENT))
