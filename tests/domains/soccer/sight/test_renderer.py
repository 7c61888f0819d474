"""The renderer for training: things are where geometry says, cover what they should, and stand before each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.camera.strip import GroundStrip
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.labels import Labels, labels_of
from robomarl.domains.soccer.lab.sight.pitch import camera_of, pitch_of
from robomarl.domains.soccer.lab.sight.renderer import Rendered, make_renderer
from robomarl.domains.soccer.lab.sight.scene import SightScene, plain_look
from robomarl.lab.sim.scenario import load_scenario

AWAY = (-2.0, 1.3)
BALLS = ((0.6, 0.0), (1.5, 0.6), (1.0, 0.0), (2.5, -0.5))
ROBOTS = (AWAY, AWAY, (0.6, 0.0), AWAY)
STRIP = GroundStrip()


@pytest.fixture(scope="module")
def drawn() -> tuple[Rendered, Labels]:
    """Four scenes from (-1, 0), looking along x; in the third an opponent stands before the ball."""
    scenario = load_scenario("soccer_2v2", SoccerScenario)
    camera, pitch, num = camera_of(scenario), pitch_of(scenario), len(BALLS)
    ball, robot = (jnp.array(part).T + jnp.array([[-1.0], [0.0]]) for part in (BALLS, ROBOTS))
    scene = SightScene(
        place=(jnp.full(num, -1.0), jnp.zeros(num)),
        heading=(jnp.ones(num), jnp.zeros(num)),
        ball=(ball[0], ball[1]),
        robots=(robot[0][None], robot[1][None]),
        opponents=jnp.ones((1, num)),
    )
    rendered = jax.jit(make_renderer(pitch, camera, STRIP))(scene, plain_look(num))
    return rendered, jax.tree.map(np.asarray, labels_of(scene, rendered, camera.place_m[0]))


@pytest.mark.parametrize("index", [0, 1, 3])
def test_the_ball_is_in_its_cell(drawn: tuple[Rendered, Labels], index: int):
    """The middle of what is orange is in the column of the ball's azimuth, and one ball's height above its foot."""
    picture = np.asarray(drawn[0].strip)[..., index].astype(float)
    orange = np.clip(picture[..., 0] - 2 * picture[..., 2] - 40, 0, None) * (picture[..., 0] > 1.4 * picture[..., 1])
    orange[: STRIP.above_rows] = 0
    x, y = BALLS[index]
    row, column = STRIP.cell(np.hypot(x, y), np.arctan2(y, x))
    found_column = (orange.sum(0) * (np.arange(96) + 0.5)).sum() / orange.sum()
    found_row = (orange.sum(1) * (np.arange(32) + 0.5)).sum() / orange.sum()
    assert found_column == pytest.approx(float(column), abs=0.3)
    assert -2.0 < found_row - float(row) < 0.2


def test_the_ball_covers_its_solid_angle(drawn: tuple[Rendered, Labels]):
    """Far away it covers pi r^2 of a cell's area, cell by cell: within a tenth of the sum over a fine grid."""
    height, radius, (x, y) = 0.14, 0.0215, BALLS[3]
    rows, columns = np.meshgrid(np.arange(0, 32, 0.02) + 0.01, np.arange(30, 66, 0.05) + 0.025, indexing="ij")
    ray = STRIP.directions(rows, columns, height)
    middle = np.array([x, y, radius - height])
    along = ray @ middle
    inside = (middle @ middle - along**2 < radius**2) & (along > 0)
    assert float(drawn[0].ball[1, 3]) == pytest.approx(inside.sum() * 0.02 * 0.05, rel=0.1)


def test_a_robot_hides_the_ball(drawn: tuple[Rendered, Labels]):
    _, labels = drawn
    assert labels.seen[0].tolist() == [1.0, 1.0, 0.0, 1.0]
    assert labels.seen[1].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert labels.range_m[0, 0] == pytest.approx(0.6)


def test_the_pose_is_that_of_the_centre(drawn: tuple[Rendered, Labels]):
    """The camera is at (-1, 0), 6 cm before the robot's centre, so the field's middle is 1.06 m ahead of it."""
    assert drawn[1].pose[:, 0] == pytest.approx([1.06, 0.0, 1.0, 0.0])


def test_the_carpet_is_green_and_boards_are_light(drawn: tuple[Rendered, Labels]):
    picture = np.asarray(drawn[0].strip)[..., 0].astype(int)
    assert (picture[-1, :, 1] > picture[-1, :, 0] + 20).all()
    edge = picture[STRIP.above_rows, [10, 85]]
    assert (edge.min(-1) > 150).all() and (np.ptp(edge, -1) < 20).all()
