"""Ray on this machine: results in order, errors, workers that die, and no port that other machines reach."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from benchmarks.processes import below
from robomarl.core.config import UserError

pytest.importorskip("ray")

from robomarl.lab.cluster.connect import Cluster
from robomarl.lab.cluster.tasks import Workers, joined


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with joined(Cluster("local", 2), 100_000_000) as found:
        yield found


def square(file: Path, number: int) -> int:
    if number == 3 and not file.exists():
        file.touch()
        os._exit(9)
    if number < 0:
        raise UserError("no negative numbers.")
    return number**2


def test_results_are_in_order_though_a_worker_dies(workers: Workers, tmp_path: Path):
    work = partial(square, tmp_path / "died")
    assert list(workers.map(work, range(8), "squares", False)) == [n**2 for n in range(8)]
    assert (tmp_path / "died").exists()
    with pytest.raises(UserError, match=r"^no negative numbers\.$"):
        list(workers.map(work, [1, -1], "squares", False))


def test_nothing_listens_beyond_this_machine(workers: Workers):
    sockets = {link for pid in (os.getpid(), *below(os.getpid(), "")) for link in _links(pid)}
    rows = [row.split() for name in ("tcp", "tcp6") for row in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    ours = [row[1].rpartition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]
    assert ours
    assert all(a.endswith("7F") or a == "0" * 24 + "01000000" for a in ours), ours


def _links(pid: int) -> list[str]:
    try:
        return [os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []
