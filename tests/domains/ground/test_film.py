"""Films of ground robots: what is where in the picture."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from robomarl.core.config import UserError
from robomarl.core.filter.tree import each
from robomarl.domains.ground.lab.film import FILTERED, LOAD, NUMBER_M, PIXELS_PER_M, ROBOTS, Frame, draw, film
from robomarl.domains.ground.lab.model import NUM_DRAWS, start
from robomarl.domains.ground.lab.tasks import TASKS
from robomarl.domains.ground.lab.tasks.base import DONE, HIDDEN, OPEN
from robomarl.lab.evaluate.floor_plan import FloorPlan
from robomarl.lab.sim.scenario import load_scenario


def frames_of(name: str, count: int = 1) -> tuple[list[Frame], Any]:
    """A team that drives 2 cm to the right in each decision."""
    scenario = load_scenario({"passage": "passage_4", "crowd": "crowd_8"}.get(name, name))
    draws = np.random.default_rng(0).uniform(size=(1, scenario.count, NUM_DRAWS)).astype(np.float32)
    world = each(start(scenario, draws), lambda leaf: np.asarray(leaf)[0])
    right = np.array([0.02, 0, 0], np.float32)
    calm = np.zeros(scenario.count, bool)
    return [Frame(world._replace(pos_m=world.pos_m + i * right, step=i), calm, 0.0) for i in range(count)], scenario


def colour(plan: FloorPlan, place_m: np.ndarray) -> Any:
    x, y = plan.pixels(place_m)
    return plan.image.getpixel((int(x), int(y)))


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_task_is_drawn(name: str):
    frames, scenario = frames_of(name)
    plan = draw(frames, 0, 0, scenario)
    found = {c for _, c in plan.image.getcolors(1 << 20) or []}
    assert found & set(ROBOTS)
    size = np.array(scenario.arena.high_m[:2]) - np.array(scenario.arena.low_m[:2])
    assert np.allclose(np.array(plan.image.size) / PIXELS_PER_M, size + 0.24, atol=0.01)


def test_robots_rings_and_loads_are_where_they_are():
    (frame,), scenario = frames_of("warehouse")
    task = frame.world.own.task
    frame = frame._replace(
        world=frame.world._replace(own=frame.world.own._replace(task=task._replace(payload=np.array([1.0, 0, 0, 0])))),
        active=np.array([False, True, False, False]),
    )
    plan, radius = draw([frame], 0, 0, scenario), scenario.vehicle_config.body.radius_m
    place = frame.world.pos_m[:, :2]
    assert colour(plan, place[0] - [radius / 4, radius / 4]) == LOAD
    assert colour(plan, place[1] + [0, radius - 0.005]) == FILTERED
    assert colour(plan, place[2] - [0, 0.8 * radius]) == ROBOTS[1], "the second role has the second colour"
    x, y = plan.pixels(place[3] + 0.7 * radius + NUMBER_M)
    number = np.asarray(plan.image.crop((int(x) - 5, int(y) - 6, int(x) + 5, int(y) + 6)))
    assert number.sum(-1).min() < 300, "its number is beside a robot, in ink"


def test_landmarks_have_the_colour_of_what_is_known_of_them():
    (frame,), scenario = frames_of("discovery")
    task = frame.world.own.task._replace(sensed=np.array([0, 1, 1, 0, 0, 0]), tagged=np.array([0, 0, 1, 0, 0, 0]))
    far = frame.world.pos_m * 0 + [1.4, 0.9, 0]  # out of the way
    world = frame.world._replace(pos_m=far, own=frame.world.own._replace(task=task))
    plan = draw([frame._replace(world=world)], 0, 0, scenario)
    assert [colour(plan, place) for place in task.place_m[:3]] == [HIDDEN, OPEN, DONE]


def test_a_film_is_written_and_a_picture(tmp_path: Path):
    frames, scenario = frames_of("navigation", 40)
    film(frames, scenario, tmp_path / "a" / "film.gif")
    with Image.open(tmp_path / "a" / "film.gif") as moving:
        assert getattr(moving, "n_frames", 1) == len(range(0, 39, max(1, round(scenario.rates.policy_hz * 0.3)))) + 1
    film(frames, scenario, tmp_path / "end.png")
    with Image.open(tmp_path / "end.png") as still:
        assert still.size[0] > still.size[1]
    with pytest.raises(UserError, match=r"film.mp4: pictures from above are .gif or .png"):
        film(frames, scenario, tmp_path / "film.mp4")
