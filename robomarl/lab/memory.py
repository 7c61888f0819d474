"""Memory that a program can still take."""

import os
from pathlib import Path


def available_bytes() -> int:
    """Memory of this machine that programs can take, caches of files included (Linux); elsewhere all memory."""
    file = Path("/proc/meminfo")
    lines = file.read_text().splitlines() if file.is_file() else []
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return found[0] if found else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
