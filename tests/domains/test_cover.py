"""`examples/cover_team`, installed by pip: coverage control with roles, neighbours, a film and a baseline; the commands
of docs/cover_team.md from check to the replay of a flight."""

import json
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from PIL import Image

from robomarl.core.config import to_dict
from robomarl.core.domain.registry import domain_named
from robomarl.core.features import FEATURES
from robomarl.front.cli import main
from robomarl.lab.evaluate.model_episodes import simulation_of_model
from robomarl.lab.sim.agents import EpisodeState
from robomarl.lab.sim.check import CheckConfig, check_engines, table
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of
from robomarl.ros.fieldtask import Seat, field_task
from robomarl.ros.io.messages import empty_snapshot
from tests.core.bundle.test_runtime import perturbed
from tests.domains.conftest import EXAMPLES, in_a_folder_of, installed
from tests.domains.test_toy import blocks

COVER = EXAMPLES / "cover_team"
MAX_LINES = 250


@pytest.fixture(scope="session")
def cover_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(COVER, tmp_path_factory.mktemp("cover"))


@pytest.fixture
def cover(cover_site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield from in_a_folder_of(COVER, cover_site, tmp_path, monkeypatch, "cell_error", "cover_role")


@pytest.fixture
def scenario(cover: Path) -> Any:
    return load_scenario("cover_3.toml")


def views_of(scenario: Any, seed: int = 3) -> Any:
    sim = simulation_of(scenario).batch(scenario, "fast", 2, seed)
    sim.reset()
    return sim.views()


def test_it_is_short_and_its_page_names_its_files(root: Path):
    sources = {path: path.read_text() for path in COVER.rglob("*.py")}
    assert sum(len(text.splitlines()) for text in sources.values()) <= MAX_LINES
    page = (root / "docs" / "cover_team.md").read_text()
    files = [path for path in COVER.rglob("*") if path.suffix in (".py", ".toml", ".yaml") and path.is_file()]
    assert not [path.name for path in files if path.name != "pyproject.toml" and f"{path.name}`" not in page]
    vehicle, *_ = blocks(root, "new_vehicle.md", "yaml")  # the next ones are parts of files
    assert vehicle in (COVER / "rover.yaml").read_text()


def test_a_cell_is_what_is_nearer_to_a_robot_than_to_its_mates(scenario: Any):
    """By another way: every place of a finer grid goes to the nearest robot, and the middle is their weighted mean."""
    from cover_team.onboard import cell_middle  # pyright: ignore[reportMissingImports]

    views = views_of(scenario)
    found = cell_middle(views)
    x, y = np.meshgrid(np.linspace(-3, 3, 481)[:-1] + 1 / 160, np.linspace(-2, 2, 321)[:-1] + 1 / 160)
    places = np.stack([x.ravel(), y.ravel()], -1)
    for team in range(2):
        robots, source = views.own.pos_m[team, :, :2], views.sensed.source_m[team, 0]
        owner = np.linalg.norm(places[:, None] - robots, axis=-1).argmin(-1)
        for robot in range(3):
            mine = places[owner == robot]
            counts = np.exp(-((mine - source) ** 2).sum(-1)) + 0.01 if robot == 0 else np.ones(len(mine))
            np.testing.assert_allclose(found[team, robot], counts @ mine / counts.sum(), atol=0.12)


def test_a_mate_that_is_not_heard_has_no_part(scenario: Any):
    from cover_team.onboard import cell_middle  # pyright: ignore[reportMissingImports]

    views = views_of(scenario)
    alone = views._replace(heard=views.heard._replace(mask=views.heard.mask & False))
    np.testing.assert_allclose(cell_middle(alone)[:, 1:], 0.0, atol=1e-4)  # the middle of the area


def test_its_features_read_what_they_say_and_nothing_else(scenario: Any):
    env = make_env(scenario)
    episode = env.reset(jax.random.key(0)).pipeline_state
    assert isinstance(episode, EpisodeState)
    view = jax.tree.map(np.asarray, env.views(episode.world))
    spec, moved = env.observation, set()

    def observe(seen: Any) -> np.ndarray:
        return np.asarray(spec.observe(spec.init(seen), seen)[1])

    for path, changed in perturbed(view):
        if not np.array_equal(observe(view), observe(changed)):
            assert any(path == read or path.startswith(f"{read}.") for read in spec.reads), path
            moved.add(path)
    assert {"own.pos_m", "heard.pos_m", "sensed.source_m"} <= moved
    assert (observe(view) != observe(view._replace(role=view.role[::-1]))).any()


def test_a_node_senses_what_the_simulator_sees(scenario: Any):
    pytest.importorskip("rclpy")
    sim = simulation_of(scenario).batch(scenario, "fast", 1, 3)
    message = simulation_of(scenario).model.messages(scenario, sim.reset(), 1.5)["source"]
    for index in range(3):
        task = field_task(to_dict(scenario), Seat(index, 3))
        (sensor,) = task.sensors
        value, stamp_s = sensor.reader(message)
        sensed = task.sensed({"source": value}, empty_snapshot(2))
        assert stamp_s == 1.5 and task.role == sim.views().role[0, index] == index
        for mine, seen in zip(sensed, sim.views().sensed, strict=True):
            np.testing.assert_allclose(mine, seen[0, index], atol=1e-6)


def test_check_says_that_both_engines_share_a_plant_without_the_vehicle(scenario: Any):
    figures = check_engines(scenario, CheckConfig(("fast", "mujoco"), 0.5))
    keys = ["body.mass_kg", "drive.track_m", "drive.wheel_speed_m_s", "drive.look_ahead_m"]
    assert (figures["passed"], figures["same_plant"]) == (True, True)
    assert (figures["not_modelled"], figures["undeclared"]) == (keys, [])
    assert "the engines agree on points that do what is commanded, and know nothing of a rover" in table(figures)


def with_model(scenario: Any, monkeypatch: pytest.MonkeyPatch, **other: Any) -> None:
    """Change the domain's model for this test."""
    model = replace(simulation_of(scenario).model, **other)
    monkeypatch.setitem(domain_named("cover").__dict__, "simulation", simulation_of_model(model, type(scenario)))


@pytest.mark.parametrize("declared", [(), ("drive",), ("body.mass_kg",)])
def test_check_fails_where_the_domain_does_not_say_so(declared: tuple, scenario: Any, monkeypatch, capsys):
    with_model(scenario, monkeypatch, not_modelled=declared)
    assert main(["check", "cover_3.toml", "--seconds", "0.5", "--json", "check.json"]) == 1
    figures = json.loads(Path("check.json").read_text())
    assert figures["passed"] is False and all(pair["passed"] for pair in figures["pairs"])
    left = [key for key in figures["not_modelled"] if not {key, key.split(".")[0]} & set(declared)]
    assert figures["undeclared"] == left != []
    assert f"NOT CHECKED: {', '.join(left)}" in capsys.readouterr().out


def test_a_figure_that_an_engine_moves_by_is_not_listed(scenario: Any, monkeypatch: pytest.MonkeyPatch):
    move = simulation_of(scenario).model.move

    def heavy(chosen: Any, world: Any, command: Any, draws: Any) -> Any:
        return move(chosen, world, command * (4.0 / chosen.vehicle_config.body.mass_kg), draws)

    with_model(scenario, monkeypatch, move=heavy)
    figures = check_engines(scenario, CheckConfig(("fast", "mujoco"), 0.5))
    assert (figures["passed"], figures["same_plant"]) == (True, False)
    assert "body.mass_kg" not in figures["not_modelled"] and "drive.track_m" in figures["not_modelled"]


def test_the_baseline_covers_and_is_filmed(cover: Path):
    words = ["--episodes", "8", "--json", "eval.json"]
    assert main(["eval", "baseline", "--scenario", "cover_3.toml", *words, "--video", "cover.gif"]) == 0
    figures = json.loads(Path("eval.json").read_text())
    assert (figures["success_rate"], figures["collisions"]) == (1.0, 0)
    film = Image.open("cover.gif")
    assert getattr(film, "n_frames", 1) > 100 and film.size == (480, 320)


@pytest.fixture
def walked(cover: Path, root: Path) -> dict[str, dict]:
    """Figures of every command of the page, by its words up to the first option."""
    pytest.importorskip("rclpy")
    (block,) = blocks(root, "cover_team.md", "bash")
    install, *commands = block.splitlines()
    assert install == "pip install ./examples/cover_team && cd examples/cover_team"  # what the fixture does
    found = {}
    for line in commands:
        _, *words = shlex.split(line)
        assert main([*words, "--json", "figures.json"]) == 0, line
        found[" ".join(words[:2])] = json.loads(Path("figures.json").read_text())
    return found


@pytest.mark.ros
@pytest.mark.slow
def test_it_walks_from_check_to_the_replay_of_a_flight(
    walked: dict[str, dict], cover: Path, tmp_path: Path, monkeypatch
):
    bundle = walked["export run"]["id"]
    assert (walked["verify bundle"]["ok"], walked["verify bundle"]["problems"]) == (True, [])
    assert {robot["current"] for robot in walked["flash bundle"]["robots"]} == {bundle}
    assert walked["eval bundle"]["success_rate"] == 1.0
    (flight,) = walked["up cover_3.yaml"]["flights"]
    assert (flight["success"], flight["collisions"]) == (True, 0), flight
    assert walked["replay bag"]["passed"] is True
    contract = json.loads(Path("bundle/bundle.json").read_text())
    assert contract["roles"] == ["watch", "sweep_left", "sweep_right"]
    (tmp_path / "elsewhere").mkdir()  # where the recorded path of the vehicle leads nowhere
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["replay", "../bag", "--bundle", "../bundle", "--out", "page.html"]) == 0


@pytest.mark.ros
def test_identify_says_in_a_sentence_that_there_is_nothing_to_fit(scenario: Any):
    from robomarl.core.config import UserError
    from robomarl.field.identify.identify import identify

    with pytest.raises(UserError, match="task = 'cover' has no model that could be fitted"):
        identify(scenario, [])
    assert "cover_team" in sys.modules and "cell_error" in FEATURES
