"""Places that ground tasks draw are checked when a scenario is loaded: robots must be able to rest at all of them."""

from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.goals.rest import rest_distances
from robomarl.domains.ground.lab.limits import filter_params
from robomarl.domains.ground.lab.tasks import task_of
from robomarl.domains.ground.lab.tasks.base import SCATTER_M
from robomarl.lab.sim.scenario import load_scenario

SHIPPED = ("navigation", "crowd_8", "hall_16", "discovery", "foraging", "passage_4", "intersection_4", "doorway_2")


AT_WALLS = """[[zones]]
name = "west"
low_m = [-2.0, -0.8]
high_m = [-1.9, 0.8]
[[zones]]
name = "east"
low_m = [1.9, -0.8]
high_m = [2.0, 0.8]
"""


def written(folder: Path, base: str, more: str) -> str:
    path = folder / "mine.toml"
    path.write_text(f'extends = "{base}"\n{more}')
    return str(path)


@pytest.mark.parametrize(
    ("base", "more", "error"),
    [
        (
            "passage_4",
            f"goal_radius_m = 0.02\ncount = 2\n{AT_WALLS}",
            r"a goal at \(-1.98, -0.48, 0\) is 0.02 m from the arena's limit on axis x \(-2 to 2 m\), and the robot "
            r"rests no nearer to it than 0.067 m; it has arrived within 0.02 m \(3 more like it\); change \[start\]",
        ),
        (
            "crowd_8",
            "goal_radius_m = 0.02\n[start]\nspacing_m = 0.2",
            r"8 goals in a row are 0.2 m apart, and robots rest no nearer to each other than 0.288 m; they have "
            r"arrived within 0.02 m; change \[start\]",
        ),
        (
            "navigation",
            "[[arena.obstacles]]\nkind = 'sphere'\nfrom_m = [0.25, 0.0, 0.0]\nradius_m = 0.1\nname = 'post'",
            r"a goal at \(0.25, 0, 0\) is -0.1 m from obstacle 'post', and the robot rests no nearer to it than "
            r"0.145 m; it has arrived within 0.1 m",
        ),
        (
            "discovery",
            "[arena]\nlow_m = [-1.2, -1.0, -0.1]\nhigh_m = [1.2, 1.0, 0.5]",
            r"a landmark at \(-1.25, -0.5, 0\) is outside the arena: x = -1.25 m, and it reaches from -1.2 to 1.2 m "
            r"\(\d+ more like it\)",
        ),
        (
            "passage_4",
            "count = 6",
            r"3 goals in a row are 0.213 m apart, and robots rest no nearer to each other than 0.433 m; they have "
            r"arrived within 0.15 m",
        ),
    ],
)
def test_places_at_which_robots_cannot_rest_are_refused_with_the_numbers(
    tmp_path: Path, base: str, more: str, error: str
):
    with pytest.raises(UserError, match=error) as raised:
        load_scenario(written(tmp_path, base, more))
    assert raised.value.figures is not None
    assert raised.value.figures["passed"] is False


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_drawn_is_among_the_checked_places(name: str):
    scenario = load_scenario(name)
    task = task_of(scenario)
    drawn = task.drawn(scenario)
    assert drawn is not None
    beginning = task.begin(scenario, np.random.default_rng(3).random((200, 2000)))
    places = beginning.goal_m if drawn.name == "goal" else beginning.task.place_m
    low, high = drawn.place_m.min(0) - 2 * SCATTER_M, drawn.place_m.max(0) + 2 * SCATTER_M
    assert ((places >= low) & (places <= high)).all()
    if drawn.beside > 1:
        apart = np.linalg.norm(places[:, :, None] - places[:, None], axis=-1)
        assert apart[~np.broadcast_to(np.eye(scenario.count, dtype=bool), apart.shape)].min() > drawn.spacing_m - 0.003
        assert rest_distances(filter_params(scenario, 0), 0.1).beside_m > 0.2
