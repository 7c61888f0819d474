"""Episodes that workers share: the figures of one process, and killed workers."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.processes import below
from robomarl.front import cli

pytest.importorskip("ray")

PATIENCE_S = 300


def evaluation(folder: Path, name: str, *words: str, episodes: int = 40) -> list[str]:
    scenario = folder / "small.toml"
    scenario.write_text('extends = "swap_4"\ntime_limit_s = 0.6\ncount = 2\n')
    command = [sys.executable, "-m", "robomarl", "eval", "swap_4", "--scenario", str(scenario)]
    return [*command, "--episodes", str(episodes), "--json", str(folder / f"{name}.json"), *words]


def run(words: list[str], more: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"RAY_worker_niceness": "0"} | (more or {})
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, env=environment)


def figures(folder: Path, name: str) -> dict[str, object]:
    """All but the clock's."""
    found = json.loads((folder / f"{name}.json").read_text())
    for row in (found, *found.get("held_out", {}).values()):
        del row["realtime_factor"]
    return found


def test_two_workers_give_the_figures_of_one_process(tmp_path: Path):
    for name, words in (("alone", ()), ("shared", ("--on", "local", "--workers", "2"))):
        assert cli.main(evaluation(tmp_path, name, *words, episodes=70)[3:]) == 0  # two parts, the last one shorter
    assert figures(tmp_path, "shared") == figures(tmp_path, "alone")


@pytest.mark.slow
def test_figures_do_not_depend_on_the_number_of_workers(tmp_path: Path):
    places = {"0": (), **{n: ("--on", "local", "--workers", n) for n in ("1", "2", "4")}}
    for name, words in places.items():
        found = run(evaluation(tmp_path, name, "--held-out", *words, episodes=300))  # two batches of three parts
        assert found.returncode == 0, found.stderr
    assert all(figures(tmp_path, name) == figures(tmp_path, "0") for name in places)


@pytest.mark.slow
def test_matches_do_not_depend_on_the_number_of_workers(tmp_path: Path):
    scenario = tmp_path / "short.toml"
    scenario.write_text('extends = "soccer_2v2"\ntime_limit_s = 2.0\n')
    found = []
    for name, words in (("alone", ()), ("shared", ("--on", "local", "--workers", "2"))):
        command = [sys.executable, "-m", "robomarl", "eval", "soccer_2v2", "--scenario", str(scenario), "--sim", "fast"]
        done = run([*command, "--episodes", "70", "--json", str(tmp_path / f"{name}.json"), *words])
        assert done.returncode == 0, done.stderr
        found.append(figures(tmp_path, name))
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(tmp_path: Path):
    assert run(evaluation(tmp_path, "alone", episodes=1000)).returncode == 0
    running = subprocess.Popen(evaluation(tmp_path, "shared", "--on", "local", "--workers", "2", episodes=1000))
    killed = 0
    while running.poll() is None and killed < 3:
        time.sleep(0.5)
        for pid in below(running.pid, "ray::_call")[:1]:
            os.kill(pid, signal.SIGKILL)
            killed += 1
            time.sleep(2)
    assert running.wait(PATIENCE_S) == 0 and killed
    assert figures(tmp_path, "shared") == figures(tmp_path, "alone")


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--agent-steps", "2e5"), ("--worst", "--sim", "mujoco", "--episodes", "2")])
def test_a_campaign_does_not_depend_on_its_workers(tmp_path: Path, words: tuple[str, ...]):
    found = []
    for name, place in (("alone", ("--workers", "1")), ("shared", ("--on", "local", "--workers", "2"))):
        command = [sys.executable, "-m", "robomarl", "prove", "swap_4", *words, *place]
        done = run([*command, "--json", str(tmp_path / f"{name}.json")])
        assert done.returncode == 0, done.stderr
        found.append(json.loads((tmp_path / f"{name}.json").read_text()))
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_cluster_at_an_address_gives_the_figures_of_one_process(tmp_path: Path):
    environment = os.environ | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a" * 64, "RAY_USAGE_STATS_ENABLED": "0"}
    environment["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # loopback alone
    words = ["--port=0", "--ray-client-server-port=25001", "--node-ip-address=127.0.0.1", "--num-cpus=2"]
    ray = Path(sys.executable).with_name("ray")
    head = subprocess.Popen([ray, "start", "--head", *words, "--block"], env=environment, start_new_session=True)
    try:
        assert run(evaluation(tmp_path, "alone", episodes=70)).returncode == 0
        place = ("--on", "ray://127.0.0.1:25001")
        known = {name: environment[name] for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")}
        for _ in range(10):
            found = run(evaluation(tmp_path, "shared", *place, episodes=70), known)
            if found.returncode == 0:
                break
            time.sleep(5)  # it is not up yet
        assert found.returncode == 0, found.stderr
        stranger = run(evaluation(tmp_path, "stranger", *place), known | {"RAY_AUTH_TOKEN": "b" * 64})
        assert stranger.returncode == 1 and "RAY_AUTH_TOKEN" in stranger.stderr
    finally:
        os.killpg(head.pid, signal.SIGTERM)
        head.wait(PATIENCE_S)
    assert figures(tmp_path, "shared") == figures(tmp_path, "alone")
