"""Priority of processes and threads on a machine. No ROS here."""

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
    """Put all threads of this process, the middleware's too, into real time, before other programs; or end
    that.

    Niceness only shares the processor: on a busy machine a publisher is put aside for milliseconds by
    the receiver that its message wakes. The lowest real-time priority is not (SCHED_RR; `sched(7)`). If
    the system does not allow it (root, CAP_SYS_NICE, or a unit's `LimitRTPRIO`), only niceness is left.
    Linux keeps a twentieth of the processor for programs that are not in real time.
    """
    if not hasattr(os, "sched_setscheduler"):
        return
    policy, priority = (os.SCHED_RR, 1) if on else (os.SCHED_OTHER, 0)
    for thread in Path("/proc/self/task").glob("*"):
        with suppress(OSError):
            os.sched_setscheduler(int(thread.name), policy, os.sched_param(priority))
