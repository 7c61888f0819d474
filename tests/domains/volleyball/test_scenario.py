"""Scenario files of volleyball: those that ship, and mistakes in them, each one sentence with its numbers."""

from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.tasks import TASKS
from robomarl.lab.sim.scenario import load_scenario

WITHOUT = "version = 2\n"


def written(folder: Path, text: str, base: str = "volley_bump") -> str:
    file = folder / "own.toml"
    file.write_text(f'extends = "{base}"\n{text}')
    return str(file)


SKILLS = ("volley_post", "volley_strike")
"""Tasks whose scenarios have names of their own."""


@pytest.mark.parametrize("name", sorted(set(TASKS) - set(SKILLS)))
def test_each_task_has_a_scenario_that_loads(name: str):
    scenario = load_scenario(name, VolleyScenario)
    assert scenario.task == name
    assert len(scenario.start.anchors_m) == scenario.count


def bump_without(folder: Path, section: str) -> str:
    """The bump's file without one section."""
    from robomarl.core.paths import scenarios_dir

    text = (scenarios_dir() / "volley_bump.toml").read_text()
    parts = text.split("\n[")
    kept = [part for part in parts if not part.startswith(f"{section}]")]
    assert len(kept) == len(parts) - 1
    file = folder / "own.toml"
    file.write_text("\n[".join(kept))
    return str(file)


@pytest.mark.parametrize(("section", "words"), [("ball_sensor", "has [racket] and no [ball_sensor]"), ("racket", "no")])
def test_a_racket_needs_a_ball_and_a_sensor_for_it(tmp_path: Path, section: str, words: str):
    with pytest.raises(UserError, match=section) as caught:
        load_scenario(bump_without(tmp_path, section))
    assert words in str(caught.value) and "own.toml" in str(caught.value) and "add" in str(caught.value)


def test_a_court_smaller_than_its_anchors_is_refused_with_the_numbers(tmp_path: Path):
    with pytest.raises(UserError, match=r"court of 8 x 9 m .* \(4.5, 0\).*length_m at least 9"):
        load_scenario(written(tmp_path, "[court]\nlength_m = 8.0\nwidth_m = 9.0\nnet_m = 2.43\n"))


def test_a_team_without_an_anchor_for_each_is_refused_with_the_numbers(tmp_path: Path):
    with pytest.raises(UserError, match="start.anchors_m has 1 places and count = 2 robots"):
        load_scenario(written(tmp_path, "count = 2\n"))


def test_anchors_nearer_than_the_separation_are_refused_with_the_numbers(tmp_path: Path):
    text = "count = 2\n[start]\nanchors_m = [[4.5, -0.8, 2.0], [4.5, 0.8, 2.0]]\n"
    with pytest.raises(UserError, match=r"may start 0.6 m apart, .*separation_m = 0.8"):
        load_scenario(written(tmp_path, text))


def test_a_ball_that_begins_in_the_racket_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match=r"ball_above_m = 0.15 must be above 0.155"):
        load_scenario(written(tmp_path, "[start]\nanchors_m = [[4.5, 0.0, 2.0]]\nball_above_m = 0.15\n"))


def test_a_vehicle_that_drives_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match="does not fly"):
        load_scenario(written(tmp_path, 'vehicle = "gritsbot"\n'))


def test_a_restitution_above_one_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match="restitution"):
        load_scenario(written(tmp_path, "[randomize]\nrestitution = [0.8, 1.2]\n"))


def test_way_points_are_needed_to_fly_to_and_fro(tmp_path: Path):
    with pytest.raises(UserError, match="waypoints_m has 1 places"):
        load_scenario(written(tmp_path, "waypoints_m = [[4.5, 0.0, 2.0]]\n", "volley_back_and_forth"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("latency_s = 0.1\n", "own.toml: ball_sensor.latency_s = 0.1 s: .*make latency_s less than 0.08"),
        ("latency_s = 0.08\n", "ball_sensor.latency_s = 0.08 s: a ball of 0.1 s ago is lost"),
        ("loss = 1.0\n", "own.toml: ball_sensor.loss = 1: no message of the ball arrives"),
    ],
)
@pytest.mark.parametrize("base", ["volley_bump", "volley_3v3"])
def test_a_ball_that_would_always_be_lost_is_refused(tmp_path: Path, base: str, text: str, words: str):
    section = "[ball_sensor]\nposition_error_m = 0.005\nvelocity_error_m_s = 0.05\n"
    with pytest.raises(UserError, match=words):
        load_scenario(written(tmp_path, section + text, base))
    near = load_scenario(written(tmp_path, f"{section}latency_s = 0.079\nloss = 0.99\n", base), VolleyScenario)
    assert near.ball_sensor is not None and near.ball_sensor.latency_s == 0.079


WRONG_PLACES = [
    ("volley_serve", "[aim]\nplace_m = [-4.5, 0.0, -0.2]\n", "aim.place_m has the height -0.2 m.* more than 0"),
    ("volley_serve", "[aim]\nplace_m = [-4.5, 0.0, 40.0]\n", "aim.place_m has the height 40 m.* at most 10"),
    ("volley_set", "[incoming]\nplace_m = [3.34, 0.02, -1.0]\n", "incoming.place_m has the height -1 m.*at least 0.2"),
    ("volley_set", "[incoming]\nplace_spread_m = [0.4, -0.1, 0.1]\n", r"incoming.place_spread_m.*at least 0"),
    ("volley_set", "[incoming]\nvelocity_spread_m_s = [-0.4, 0.1, 0.1]\n", r"incoming.velocity_spread_m_s.*at least 0"),
    ("volley_go_to", "[start]\nspread_m = [2.0, 2.0, -0.8]\n", r"start.spread_m.*at least 0"),
    (
        "volley_bump",
        "waypoints_m = [[4.5, 0.0, 2.0]]\n",
        "flies to no way-points; remove waypoints_m",
    ),
]


@pytest.mark.parametrize(("base", "text", "words"), WRONG_PLACES)
def test_places_where_no_ball_can_be_and_way_points_of_no_task_are_refused(
    tmp_path: Path, base: str, text: str, words: str
):
    with pytest.raises(UserError, match=words):
        load_scenario(written(tmp_path, text, base))


@pytest.mark.parametrize(("base", "task"), [("volley_serve", "volley_strike"), ("volley_go_to", "volley_post")])
def test_a_skill_is_flown_by_one_robot(tmp_path: Path, base: str, task: str):
    with pytest.raises(UserError, match=f"count = 2: task = '{task}' is flown by one robot; make count 1"):
        load_scenario(written(tmp_path, "count = 2\n", base))


@pytest.mark.parametrize("base", ["volley_bump", "volley_spike_easy"])
def test_posts_are_bounded_in_tasks_that_have_them(tmp_path: Path, base: str):
    with pytest.raises(UserError, match=r"own.toml: task = .* has no posts .* remove start.posts_within_m"):
        load_scenario(written(tmp_path, "[start]\nposts_within_m = 0.5\n", base))
