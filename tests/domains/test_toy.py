"""A kind of team of at most 100 lines, a package of its own with vehicle, scenario and fleet by path, goes all the way
from check to a flight of its nodes, changing nothing else: by the commands and the code of docs/new_domain.md."""

import json
import re
import shlex
from pathlib import Path

import pytest

from robomarl.front.cli import main
from tests.domains.conftest import EXAMPLE

MAX_LINES = 100


def blocks(root: Path, page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (root / "docs" / page).read_text(), re.S)


def test_it_is_short():
    lines = sum(len(path.read_text().splitlines()) for path in EXAMPLE.rglob("*.py"))
    assert 50 < lines <= MAX_LINES


def test_the_page_shows_the_code_that_runs(root: Path):
    sources = [path.read_text() for path in EXAMPLE.rglob("*.py")]
    shown = blocks(root, "new_domain.md", "python")
    assert len(shown) == 5
    assert not [block for block in shown if not any(block in source for source in sources)]
    (entry,) = blocks(root, "new_domain.md", "toml")
    assert entry in (EXAMPLE / "pyproject.toml").read_text()


@pytest.fixture
def walked(toy: Path, root: Path) -> dict[str, dict]:
    """Figures of every command of the page, by its name."""
    pytest.importorskip("rclpy")
    (block,) = blocks(root, "new_domain.md", "bash")
    install, *commands = block.splitlines()
    assert install == "pip install ./examples/flag_team && cd examples/flag_team"  # what the fixture does
    found = {}
    for line in commands:
        _, name, *words = shlex.split(line)
        status = main([name, *words, "--json", f"{name}.json"])
        assert status == 0 or name == "up", f"{line}: only that nobody arrives yet is no failure"
        found[name] = json.loads(Path(f"{name}.json").read_text())
    return found


@pytest.mark.ros
def test_it_walks_from_check_to_a_flight(walked: dict[str, dict], toy: Path):
    assert list(walked) == ["check", "train", "export", "verify", "flash", "eval", "up"]
    assert walked["check"]["sims"] == ["fast", "mujoco"]
    assert 0 < walked["check"]["position_diff_m"] < 1e-3
    assert "flag_2" in (toy / "run" / "report.html").read_text()
    bundle = walked["export"]["id"]
    assert (walked["verify"]["id"], walked["verify"]["ok"], walked["verify"]["problems"]) == (bundle, True, [])
    assert {robot["current"] for robot in walked["flash"]["robots"]} == {bundle}
    assert walked["eval"]["sim"] == "mujoco"
    assert 0 < walked["eval"]["agent_steps"] <= 4 * 2 * 100
    (flight,) = walked["up"]["flights"]
    assert flight["flight_s"] > 1.0 or flight["success"], flight
    assert flight["fallback_share"] == 0.0, "a policy decided each time, so that the flag was seen"
    assert b"/world/flag" in b"".join(path.read_bytes() for path in Path("bag").glob("*.mcap"))


def test_the_vehicle_of_the_page_can_be_proved(root: Path, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    vehicle, *_ = blocks(root, "new_vehicle.md", "yaml")  # the next ones are parts of files
    Path("rover.yaml").write_text(vehicle)
    (code,) = blocks(root, "new_vehicle.md", "python")
    exec(compile(code, "new_vehicle.md", "exec"), {})
    assert capsys.readouterr().out == "rover 0.5\n"
    (command,) = blocks(root, "new_vehicle.md", "bash")
    assert main([*shlex.split(command)[1:], "--json", "prove.json"]) == 0
    assert json.loads(Path("prove.json").read_text())["collisions"] == 0
