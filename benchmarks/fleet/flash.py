"""`bench flash`: a bundle of 1 MB to six robots over a real sshd on the loopback address; verify; checks at node start.

The robots' own work runs on this machine's cores too: six robots that check a bundle at once share them. Real ones
each have their own.
"""

import random
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks import Row, seconds

REPEATS, TEAMS, SIZE = 5, (1, 6), 2**20
STARTS = """
import time
from robomarl.core.bundle.bundle import POLICY_FILE, load_bundle
from robomarl.core.bundle.golden import check_filter
from robomarl.core.bundle.runtime import open_policy, open_session, read_golden
from robomarl.ros.robot.startup import LOAD_STEPS
import jsonschema, onnxruntime, sys
graph = open(sys.argv[1] + "/" + POLICY_FILE, "rb").read()
open_session(graph)
start = time.perf_counter()
open_session(graph)
bare = time.perf_counter() - start
start = time.perf_counter()
bundle = load_bundle(sys.argv[1])
open_policy(bundle)
check_filter(bundle.contract, read_golden(bundle), LOAD_STEPS)
print(time.perf_counter() - start - bare)
"""
"""What the node does with a bundle at its start, less opening the network, which it would do in any case."""


def rows() -> list[Row]:
    """Flash to one and to six robots in turn, then verify, then the checks at a node's start."""
    from benchmarks.fleet.loopback import serve
    from robomarl.core.paths import bundles_dir

    shipped = bundles_dir() / "swap_4"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        bundles = [make_bundle(shipped, folder / name) for name in ("one", "other")]
        with serve(folder / "sshd") as server:
            found = flashes(server, folder, bundles)
        verify = [robomarl("verify", bundles[0]) for _ in range(REPEATS)]
        starts = [float(python("-c", STARTS, str(shipped)).stdout) for _ in range(REPEATS)]
    return [
        *found,
        Row("robomarl verify", "from exec to exit, p50", median(verify), "s"),
        Row("node start", "checks at load, p50", median(starts) * 1e3, "ms"),
    ]


def make_bundle(shipped: Path, folder: Path) -> Path:
    """The bundle that ships, for teams of any size, and as large as a bundle may be that carries its weights."""
    from robomarl.core.bundle.bundle import CONTRACT_FILE, entry_of, load_bundle, seal

    bundle = load_bundle(shipped)
    files = {name: content for name, content in bundle.files.items() if name != CONTRACT_FILE}
    room = SIZE - sum(map(len, files.values()))
    files["weights.npz"] = random.Random(folder.name).randbytes(room + len(files["weights.npz"]))
    entries = {name: entry_of(content) for name, content in files.items()}
    contract = replace(bundle.contract, name=folder.name, team_size=(1, 6), roles=(), files=entries)
    folder.mkdir()
    for name, content in {**files, CONTRACT_FILE: seal(contract)}.items():
        (folder / name).write_bytes(content)
    return folder


def flashes(server, folder: Path, bundles: list[Path]) -> list[Row]:
    """Each flash is a process of its own and a real switch, from one bundle to the other."""
    from benchmarks.fleet.loopback import fleet_text

    fleets, taken = {}, {team: [] for team in TEAMS}
    for team in TEAMS:
        fleets[team] = folder / f"team_{team}.yaml"
        fleets[team].write_text(fleet_text(server, folder / str(team), [sys.executable] * team))
        robomarl("flash", bundles[1], fleets[team])
    for i in range(REPEATS):
        for team in TEAMS:
            taken[team].append(robomarl("flash", bundles[i % 2], fleets[team]))
    p50 = {team: median(times) for team, times in taken.items()}
    one, most = TEAMS
    found = [Row(f"flash, {team} robots, 1 MB, loopback ssh", "p50", p50[team], "s") for team in TEAMS]
    found += [Row(f"flash, {team} robots", "longest", max(taken[team]), "s") for team in TEAMS]
    growth = (p50[most] / most) / (p50[one] / one) - 1
    return [
        *found,
        Row(f"flash, {most} robots", f"times {one} robot", p50[most] / p50[one], "x"),
        Row(f"flash, {one} to {most} robots", "growth of time per robot", 100 * growth, "%"),
    ]


def robomarl(*words: object) -> float:
    """Seconds of a command."""
    return seconds(lambda: python("-m", "robomarl", *map(str, words)))


def python(*words: str) -> subprocess.CompletedProcess[str]:
    """Run this interpreter."""
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{words[:4]} failed: {done.stdout[-500:]} {done.stderr[-500:]}")
    return done
