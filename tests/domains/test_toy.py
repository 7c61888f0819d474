"""A kind of team of at most 100 lines, a package of its own with vehicle, scenario and fleet by path, goes all the way
from check to a flight of its nodes, changing nothing else."""

import json
from pathlib import Path

import pytest

from robomarl.cli import main
from tests.domains.conftest import EXAMPLE

MAX_LINES = 100


def figures(*words: str) -> dict:
    assert main([*words, "--json", "figures.json"]) == 0
    return json.loads(Path("figures.json").read_text())


def test_it_is_short():
    lines = sum(len(path.read_text().splitlines()) for path in EXAMPLE.rglob("*.py"))
    assert 50 < lines <= MAX_LINES


@pytest.mark.ros
def test_it_walks_from_check_to_the_report(toy: Path):
    pytest.importorskip("rclpy")
    found = figures("check", "flag_2.toml", "--seconds", "1")
    assert found["sims"] == ["fast", "mujoco"]
    assert 0 < found["position_diff_m"] < 1e-3
    assert main(["train", "--recipe", "recipe.toml", "--out", "run", "--quiet"]) == 0
    assert "flag_2" in (toy / "run" / "report.html").read_text()
    bundle = figures("export", "run", "bundle")["id"]
    verified = figures("verify", "bundle")
    assert (verified["id"], verified["ok"], verified["problems"]) == (bundle, True, [])
    flashed = figures("flash", "bundle", "flag_2.yaml")
    assert {robot["current"] for robot in flashed["robots"]} == {bundle}
    judged = figures("eval", "bundle", "--episodes", "4")
    assert judged["sim"] == "mujoco"
    assert 0 < judged["agent_steps"] <= 4 * 2 * 100
    main(["up", "flag_2.yaml", "--sim", "mujoco", "--flights", "1", "--record", "bag", "--json", "flight.json"])
    (flight,) = json.loads(Path("flight.json").read_text())["flights"]
    assert flight["flight_s"] > 1.0 or flight["success"], flight
    assert flight["fallback_share"] == 0.0, "a policy decided each time, so that the flag was seen"
    assert b"/world/flag" in b"".join(path.read_bytes() for path in Path("bag").glob("*.mcap"))
