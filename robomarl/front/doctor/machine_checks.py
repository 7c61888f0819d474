"""Checks of the machine: cores, memory, clock, disks, ssh."""

import ctypes
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from robomarl.core.paths import cache_dir
from robomarl.front.cli.ends import LEAST_FREE_BYTES
from robomarl.front.doctor.finding import Finding

FEW_CORES, LITTLE_MEMORY_GB, LITTLE_DISK_GB = 2, 2.0, 1.0
"""Below these, training is slow or may stop for lack of room."""
TIMEX_BYTES, TIMEX_STATUS, UNSYNCHRONISED = 512, 40, 0x40
"""Of Linux's `struct timex`: room that it fits into, place of its status, and the status's flag STA_UNSYNC."""


def cores_and_memory() -> Iterator[Finding]:
    """Yield the rows of cores and memory that this process may use."""
    cores = len(os.sched_getaffinity(0))
    slow = cores < FEW_CORES
    fix = "Give the machine or container more cores; nodes of a team share this one." if slow else ""
    yield Finding("cores", "note" if slow else "ok", f"{cores}", fix)
    free, whole = (memory_gb(key) for key in ("MemAvailable", "MemTotal"))
    little = free < LITTLE_MEMORY_GB
    fix = "End other programs, or train with a smaller num_envs." if little else ""
    yield Finding("memory", "note" if little else "ok", f"{free:.1f} of {whole:.1f} GB are available", fix)


def memory_gb(key: str) -> float:
    """Return a value of /proc/meminfo [GB]."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(float(line.split()[1]) * 1024 / 1e9 for line in lines if line.startswith(f"{key}:"))


def clock() -> Iterator[Finding]:
    """Yield the row of the clock's synchronisation, as the kernel knows it of NTP, chrony and PTP alike."""
    timex = ctypes.create_string_buffer(TIMEX_BYTES)  # all zero: adjtimex only reads
    if ctypes.CDLL(None, use_errno=True).adjtimex(timex) < 0:
        found = f"unknown (adjtimex: {os.strerror(ctypes.get_errno())})"
        yield Finding("clock", "note", found, "Check that the machine's clock is synchronised: timedatectl")
        return
    status = int.from_bytes(timex.raw[TIMEX_STATUS : TIMEX_STATUS + 4], "little")
    if status & UNSYNCHRONISED:
        found = "not synchronised; recordings of several machines, and keys with dates, need that"
        yield Finding("clock", "note", found, "sudo timedatectl set-ntp true")
    else:
        yield Finding("clock", "ok", "synchronised")


def disks() -> Iterator[Finding]:
    """Yield the rows of the working folder and of the cache."""
    yield disk("working folder", Path.cwd(), True)
    yield disk("cache", cache_dir(), False)


def disk(name: str, folder: Path, needed: bool) -> Finding:
    """Return the row of a folder: its free space, and whether files can be written there.

    Args:
        name: name of the row.
        folder: folder, which need not exist yet.
        needed: True if commands fail without it.
    """
    other = "cd to another folder" if needed else "export XDG_CACHE_HOME=FOLDER, a folder that can be written"
    place = folder
    while not place.exists():
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            free = shutil.disk_usage(place).free
    except OSError as error:
        return Finding(name, "missing" if needed else "note", f"{folder}: can't be written ({error.strerror})", other)
    found = f"{folder}: {free / 1e9:.1f} GB are free"
    if free < LEAST_FREE_BYTES and needed:
        return Finding(name, "missing", found, f"Make room, or {other}.")
    little = free < LITTLE_DISK_GB * 1e9
    return Finding(name, "note" if little else "ok", found, f"Make room, or {other}." if little else "")


def ssh() -> Iterator[Finding]:
    """Yield the rows of ssh, by which bundles reach robots, and of sshd, which robots need."""
    client, server = shutil.which("ssh"), shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    fix = "sudo apt install openssh-client"
    yield Finding("ssh", "ok", client) if client else Finding("ssh", "note", "not found: flash needs it", fix)
    fix = "On a robot: sudo apt install openssh-server"
    yield Finding("sshd", "ok", server) if server else Finding("sshd", "note", "not found; only robots need it", fix)
