"""Films of ground robots: marks, numbers, words, loads and rings that each picture has."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from robomarl.core.tree import each
from robomarl.domains.ground.lab.model import NUM_DRAWS, start
from robomarl.domains.ground.lab.simulation import SIMULATION
from robomarl.domains.ground.lab.staging import LOAD, STAGING
from robomarl.domains.ground.lab.tasks import TASKS
from robomarl.domains.ground.lab.tasks.base import DONE, HIDDEN, OPEN
from robomarl.lab.evaluate.model_episodes import ModelFrame
from robomarl.lab.scene import film
from robomarl.lab.scene.from_above import plans
from robomarl.lab.scene.of_model import frame_moment
from robomarl.lab.scene.palette import team_colours
from robomarl.lab.scene.picture import ALERT, View
from robomarl.lab.scene.scene import SceneMoment
from robomarl.lab.sim.scenario import load_scenario

SIZE = (640, 480)


def frames_of(name: str, count: int = 1) -> tuple[list[ModelFrame], Any]:
    """Return a team that drives 2 cm to the right in each decision, and its scenario."""
    scenario = load_scenario({"passage": "passage_4", "crowd": "crowd_8"}.get(name, name))
    draws = np.random.default_rng(0).uniform(size=(1, scenario.count, NUM_DRAWS)).astype(np.float32)
    world = each(start(scenario, draws), lambda leaf: np.asarray(leaf)[0])
    right = np.array([0.02, 0, 0], np.float32)
    calm = np.zeros(scenario.count, bool)
    return [
        ModelFrame(world._replace(pos_m=world.pos_m + i * right, step=np.int32(i)), calm) for i in range(count)
    ], scenario


def moment_of(frame: ModelFrame, scenario: Any) -> SceneMoment:
    return frame_moment(STAGING, scenario, frame)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_task_is_shown_with_numbers_zones_and_its_number(name: str):
    (frame,), scenario = frames_of(name)
    scene, moment = STAGING.scene(scenario), moment_of(frame, scenario)
    assert scene.tags == tuple(map(str, range(scenario.count)))
    assert {label.words for label in scene.labels} == {zone.name.replace("_", " ") for zone in scenario.zones}
    assert TASKS[name].metric_name.replace("_", " ") in moment.caption
    assert len(moment.marks) >= len(moment.labels)
    (drawn,) = plans(scene, [View(moment)], SIZE)
    found = {tuple(colour) for colour in np.unique(drawn.pixels.reshape(-1, 3), axis=0).tolist()}
    assert found & set(team_colours(4))


def test_loads_rings_and_roles_are_where_they_are():
    (frame,), scenario = frames_of("warehouse")
    task = frame.world.own.task._replace(payload=np.array([1.0, 0, 0, 0]))
    frame = ModelFrame(
        frame.world._replace(own=frame.world.own._replace(task=task)), np.array([False, True, False, False])
    )
    scene, moment = STAGING.scene(scenario), moment_of(frame, scenario)
    (load,) = [mark for mark in moment.marks if mark.rgb == LOAD]
    np.testing.assert_allclose(load.place_m[:2], frame.world.pos_m[0, :2])
    assert scene.colours == (*[team_colours(1)[0]] * 2, *[team_colours(2)[1]] * 2), "each role has a colour"
    (drawn,) = plans(scene, [View(moment)], SIZE)
    x, y = drawn.at(frame.world.pos_m)[1]
    near = drawn.pixels[int(y) - 30 : int(y) + 30, int(x) - 30 : int(x) + 30].reshape(-1, 3)
    assert (near == ALERT).all(-1).any()


def test_landmarks_have_the_colour_of_what_is_known_of_them():
    (frame,), scenario = frames_of("discovery")
    task = frame.world.own.task._replace(sensed=np.array([0, 1, 1, 0, 0, 0]), tagged=np.array([0, 0, 1, 0, 0, 0]))
    world = frame.world._replace(own=frame.world.own._replace(task=task))
    marks = {mark.place_m[:2]: mark.rgb for mark in moment_of(frame._replace(world=world), scenario).marks}
    assert [marks[tuple(np.asarray(place, float).tolist())] for place in task.place_m[:3]] == [HIDDEN, OPEN, DONE]


def test_goals_are_drawn_where_robots_have_some():
    assert STAGING.scene(load_scenario("navigation")).goals and STAGING.scene(load_scenario("crowd_8")).goals
    assert not STAGING.scene(load_scenario("warehouse")).goals


def test_an_episode_is_filmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(film, "find_gl", lambda: "")
    frames, scenario = frames_of("navigation", 40)
    write = SIMULATION.evaluation.film
    assert write is not None
    write(frames, scenario, tmp_path / "a" / "film.gif")
    with Image.open(tmp_path / "a" / "film.gif") as moving:
        assert getattr(moving, "n_frames", 1) >= 5
