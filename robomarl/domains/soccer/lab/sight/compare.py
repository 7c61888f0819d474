"""Two renderers of one scene: the one for training beside MuJoCo's, by the places and sizes of coloured things.

`robomarl check` compares engines by what moves; this compares what is seen: the ball, and the bands of mates and
opponents, found by their colours in both strips. A mount that is 2 degrees off in one of them must show (a test).
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import GroundStrip, Picture8, strip_table, to_strip
from robomarl.domains.soccer.lab.engines.robot_cameras import Poses, RobotCameras
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.labels import Labels, labels_of
from robomarl.domains.soccer.lab.sight.pitch import COLOURS, MATERIALS, pitch_of
from robomarl.domains.soccer.lab.sight.renderer import make_renderer
from robomarl.domains.soccer.lab.sight.scene import SightScene, draw_scene, plain_look

LEAST_CELLS = 3.0
"""Smaller things are not compared."""


class StripPairs(NamedTuple):
    """Pictures of equal scenes by both renderers."""

    drawn: Picture8
    """[E, R, C, 3] of the renderer for training, with nominal colours."""
    rendered: Picture8
    """[E, R, C, 3] of MuJoCo's."""
    labels: Labels
    """Truth, [..., E]."""


def strip_pairs(
    scenario: SoccerScenario,
    camera: PinholeCamera,
    num: int,
    seed: int,
    shadows: bool,
    strip: GroundStrip = GroundStrip(),  # noqa: B008
) -> StripPairs:
    """Draw `num` scenes by both renderers.

    Args:
        scenario: the game.
        camera: of the vehicle file; another mount than that shows what the comparison finds. Both have its shutter.
        num: scenes.
        seed: of the scenes.
        shadows: MuJoCo's shadows and smooth edges.
        strip: of both.

    Raises:
        UserError: no GL library works here.
    """
    pitch = pitch_of(scenario)
    kinds = (0,) * (scenario.count - 1) + (1,) * scenario.count
    nominal = replace(scenario.robot.camera or camera, readout_s=camera.readout_s)
    render = jax.jit(make_renderer(pitch, nominal, strip))
    scene = draw_scene(jax.random.key(seed), pitch, nominal.place_m[0], kinds, num)
    drawn = render(scene, plain_look(num))
    random, table = np.random.default_rng(seed), strip_table(nominal, strip)
    with RobotCameras(scenario, camera, shadows) as cameras:
        pictures = []
        for poses in poses_of(scene, nominal.place_m[0]):
            cameras.place(poses)
            pictures.append(to_strip(cameras.picture(0, random), table))
    labels = jax.tree.map(np.asarray, labels_of(scene, drawn, nominal.place_m[0]))
    return StripPairs(np.moveaxis(np.asarray(drawn.strip), -1, 0), np.stack(pictures), labels)


def poses_of(scene: SightScene, camera_x_m: float) -> list[Poses]:
    """Return the scenes as MuJoCo takes them: the looking robot first, then the others, which look to the right."""
    c, s = scene.heading
    own = jnp.stack([scene.place[0] - camera_x_m * c, scene.place[1] - camera_x_m * s, jnp.arctan2(s, c)], -1)
    others = jnp.stack([*scene.robots, 0 * scene.robots[0]], -1)
    robots = np.concatenate([np.asarray(own)[None], np.asarray(others)]).swapaxes(0, 1).astype(np.float64)
    balls = np.stack([np.asarray(part, np.float64) for part in scene.ball], -1)
    turns = np.zeros(robots.shape[:2])
    turns[:, 0] = scene.turn
    return [Poses(*parts) for parts in zip(robots, balls, turns, strict=True)]


def apart(pairs: StripPairs, material: str) -> tuple[np.ndarray, np.ndarray]:
    """Return how far a coloured thing is apart in both pictures, where both show enough of it.

    Returns:
        [K, 2] rows and columns between the middles [cells], and [K] the logarithm of the ratio of the sizes.
    """
    first, second = (_blobs(pictures, material) for pictures in (pairs.drawn, pairs.rendered))
    both = (first[:, 2] >= LEAST_CELLS) & (second[:, 2] >= LEAST_CELLS)
    return (first - second)[both, :2], np.log(first[both, 2] / second[both, 2])


def _blobs(pictures: Picture8, material: str) -> np.ndarray:
    """[E, 3] mean row, mean column and number of the cells that have a material's hue."""
    hue = np.array(COLOURS[MATERIALS.index(material)])
    image = pictures.astype(np.float64)
    bright = image / np.maximum(image.max(-1, keepdims=True), 1.0)
    alike = (np.abs(bright - hue / hue.max()).max(-1) < 0.25) & (image.max(-1) > 50)
    alike[:, : GroundStrip().above_rows - 2] = False  # the hall has all colours
    size = alike.sum((1, 2))
    rows, columns = np.arange(alike.shape[1]) + 0.5, np.arange(alike.shape[2]) + 0.5
    row = (alike.sum(2) * rows).sum(1) / np.maximum(size, 1)
    column = (alike.sum(1) * columns).sum(1) / np.maximum(size, 1)
    return np.stack([row, column, size], -1)
