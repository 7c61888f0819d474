"""Structure changed at random: every mutant is refused by a sentence, ended at a limit, or does what it did before."""

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("onnx")

from benchmarks.fleet.mutants import KINDS, mutant
from robomarl.core.paths import bundles_dir

PROGRAM = """
import json
from benchmarks.fleet.hostile import campaign
print(json.dumps(vars(campaign({count}, {seed}))))
"""


def check(root: Path, count: int, seed: int) -> None:
    """In a process of its own: a child of this one counts as what this one is until it becomes another program."""
    command = [sys.executable, "-c", PROGRAM.format(count=count, seed=seed)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    tally = json.loads(done.stdout.splitlines()[-1])
    assert "traceback" not in tally["came"], tally["found"]
    assert tally["came"].get("accepted", 0) < count / 4, tally["came"]
    assert tally["longest_s"] < 7.0, "a check is ended after 5 s of the processor, and needs a moment to be ended"
    assert tally["longest_load_s"] < 5.0
    assert tally["most_mib"] < 300


def test_mutants_are_refused_or_bounded(root: Path):
    check(root, 30, seed=1)


@pytest.mark.slow
def test_ten_thousand_mutants_are_refused_or_bounded(root: Path):
    check(root, 10_000, seed=0)


def test_the_generator_makes_all_kinds_and_the_same_again(tmp_path: Path):
    seen = Counter()
    for seed in range(30):
        kind, folder = mutant(bundles_dir() / "swap_4", tmp_path / str(seed), random.Random(seed))
        again = mutant(bundles_dir() / "swap_4", tmp_path / f"{seed}b", random.Random(seed))
        seen[kind] += 1
        assert again[0] == kind
        assert (folder / "bundle.json").read_bytes() == (again[1] / "bundle.json").read_bytes()
    assert set(seen) == set(KINDS)
