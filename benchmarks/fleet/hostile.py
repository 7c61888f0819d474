"""`bench hostile`: bundles whose structure was changed at random; each is refused, or bounded in time and memory."""

import os
import random
import resource
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import Row
from benchmarks.fleet.mutants import mutant

COUNT = 10_000
ENDED, UNNAMED = "was ended, it took over", "can't be checked ("


@dataclass
class Tally:
    """What came of the mutants."""

    came: Counter = field(default_factory=Counter)
    """`refused by load`, `refused by check`, `ended`, `without a name`, `accepted`, `traceback`."""
    longest_s: float = 0.0
    """Processor time of one check."""
    longest_load_s: float = 0.0
    """Processor time of one reading on the operator's machine."""
    most_mib: float = 0.0
    """Resident memory of a process that checks."""
    found: list[str] = field(default_factory=list)
    """What was without a name or a traceback, the first few."""

    def add(self, what: str, kind: str, said: str) -> None:
        """Count one."""
        self.came[what] += 1
        if what in ("traceback", "without a name") and len(self.found) < 20:
            self.found.append(f"{kind}: {what}: {said[-300:]}")


def rows() -> list[Row]:
    """The whole campaign."""
    tally = campaign(COUNT)
    found = [Row("hostile bundles", name, count, "") for name, count in sorted(tally.came.items())]
    return [
        *found,
        Row("hostile bundles", "longest check, processor time", tally.longest_s, "s"),
        Row("hostile bundles", "longest reading, processor time", tally.longest_load_s, "s"),
        Row("hostile bundles", "most memory of a check", tally.most_mib, "MiB"),
    ]


def campaign(count: int, seed: int = 0) -> Tally:
    """Make so many mutants of `swap_4`, read them here and check them apart."""
    from robomarl.core.paths import bundles_dir
    from robomarl.fleet.checks.isolated_check import Warden

    rng, tally, warden = random.Random(seed), Tally(), Warden()
    with tempfile.TemporaryDirectory() as temporary:
        for _ in range(count):
            kind, folder = mutant(bundles_dir() / "swap_4", Path(temporary) / "mutant", rng)
            what, said = _one(folder, warden, tally)
            tally.add(what, kind, said)
            shutil.rmtree(folder)
    warden.close()
    tally.most_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return tally


def _one(folder: Path, warden, tally: Tally) -> tuple[str, str]:
    from robomarl.core.bundle.bundle import load_bundle
    from robomarl.core.config import UserError

    start = time.process_time()
    try:
        load_bundle(folder)
        refused = ""
    except UserError as error:
        refused = str(error)
    except Exception as error:
        return "traceback", repr(error)
    finally:
        tally.longest_load_s = max(tally.longest_load_s, time.process_time() - start)
    if refused:
        return ("refused by load", refused) if refused.count("\n") == 0 else ("traceback", refused)
    warden.start()
    before = _children_s(warden.pid)
    verdict = warden.check(folder, timed=False, filtered=False)
    tally.longest_s = max(tally.longest_s, _children_s(warden.pid) - before)
    said = " ".join(verdict.problems)
    if "\n" in said or "Traceback" in said:
        return "traceback", said
    if ENDED in said or "wants over" in said:
        return "ended", said
    if UNNAMED in said or "was lost" in said:
        return "without a name", said
    return ("accepted" if verdict.ok else "refused by check"), said


def _children_s(pid: int | None) -> float:
    """Processor time of all that a process started and that has ended."""
    if pid is None:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
