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


def real_time(on: bool = True) -> None:
    """Let all threads of this process, the middleware's too, run before whatever is not in real time, or no longer.

    Niceness only shares: who publishes on a busy machine is put aside for milliseconds by whoever the message wakes.
    The lowest real-time priority is not (SCHED_RR; `sched(7)`). Where the system does not allow it (root, CAP_SYS_NICE,
    or a unit's `LimitRTPRIO`), niceness is what is left. Linux keeps a twentieth of the processor for all others.
    """
    if not hasattr(os, "sched_setscheduler"):
        return
    policy, priority = (os.SCHED_RR, 1) if on else (os.SCHED_OTHER, 0)
    for thread in Path("/proc/self/task").glob("*"):
        with suppress(OSError):
            os.sched_setscheduler(int(thread.name), policy, os.sched_param(priority))
