"""What a robot's camera sees of the field in MuJoCo's renderer: lines, boards, goals, robots with bands, and a hall.

Sizes are those of `Pitch`, and colours are those that training draws about (`lab/sight/pitch.py`). A team's own robots
have the band of mates and all others that of opponents, whichever team looks.
"""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for its enumerations and for MjSpec.
import math

import mujoco
import numpy as np

from robomarl.domains.soccer.lab.engines.mjcf import BALL, BOARD_M
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.pitch import COLOURS, MATERIALS, Pitch, pitch_of

SEGMENTS = 24
"""Straight parts of the centre circle."""
ABOVE_M = 0.001
"""Height of lines above the carpet."""
HALL_M, WALLS = 2.5, 12
"""Distance of the hall's walls behind the boards, and the parts of different colours that each has."""


def colour(material: str) -> np.ndarray:
    """Return red, green, blue and alpha of a material."""
    return np.array([*COLOURS[MATERIALS.index(material)], 1.0])


def dress(spec: mujoco.MjSpec, scenario: SoccerScenario) -> None:
    """Add everything that is only there to be seen by the robots, and colour the rest."""
    pitch = pitch_of(scenario)
    spec.geom("carpet").rgba = colour("carpet")
    spec.geom("ball").rgba = colour("ball")
    for geom in spec.worldbody.geoms:
        if geom.type == mujoco.mjtGeom.mjGEOM_BOX:
            geom.rgba = colour("board") if geom.conaffinity == BALL else np.zeros(4)
    _lines(spec, pitch)
    _goals(spec, pitch)
    _hall(spec, pitch)
    for i in range(scenario.players):
        spec.geom(f"robot{i}_hull").rgba = colour("body")
        band = spec.body(f"robot{i}").add_geom(name=f"robot{i}_band", type=mujoco.mjtGeom.mjGEOM_CYLINDER)
        band.size = [pitch.robot_m + ABOVE_M, pitch.band_m / 2, 0]
        band.pos = [0, 0, pitch.robot_height_m / 2 - pitch.band_m / 2]
        band.mass, band.contype, band.conaffinity = 0.0, 0, 0
    _lights(spec)
    spec.stat.center, spec.stat.extent = np.zeros(3), pitch.length_m
    spec.visual.map.znear = 0.002  # of the extent: a camera is inside its robot, and near the ball


def _lights(spec: mujoco.MjSpec) -> None:
    """A lamp with shadows, one without from the other side, and light from everywhere, as in a hall."""
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.55] * 3, [0.0] * 3
    spec.visual.headlight.specular = [0.0] * 3
    for direction, strength, shadow in (([0.2, 0.15, -1], 0.35, True), ([-0.5, -0.4, -1], 0.2, False)):
        light = spec.worldbody.add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, dir=direction)
        light.pos, light.diffuse, light.castshadow = [0, 0, 5], [strength] * 3, shadow


def paint_teams(model: mujoco.MjModel, players: int, looking: int) -> None:
    """Colour the bands as the robot that looks sees them."""
    half = players // 2
    for i in range(players):
        is_mate = (i < half) == (looking < half)
        model.geom(f"robot{i}_band").rgba = colour("mate" if is_mate else "opponent")


def _flat(spec: mujoco.MjSpec, box: tuple[float, float, float, float], material: str, yaw: float = 0.0) -> None:
    """A box on the carpet with (x, y, half length, half width)."""
    geom = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, contype=0, conaffinity=0, rgba=colour(material))
    geom.pos, geom.size = [*box[:2], ABOVE_M / 2], [*box[2:], ABOVE_M / 2]
    geom.quat = [math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)]


def _lines(spec: mujoco.MjSpec, pitch: Pitch) -> None:
    half, (depth, width) = pitch.line_m / 2, pitch.area_m
    end = pitch.length_m / 2
    _flat(spec, (0, 0, half, pitch.width_m / 2), "line")
    for sign in (-1, 1):
        _flat(spec, (sign * (end - depth), 0, half, width / 2 + half), "line")
        for side in (-1, 1):
            _flat(spec, (sign * (end - depth / 2), side * width / 2, depth / 2, half), "line")
    long = pitch.circle_m * math.tan(math.pi / SEGMENTS)
    for angle in np.arange(SEGMENTS) * math.tau / SEGMENTS:
        x, y = pitch.circle_m * math.cos(angle), pitch.circle_m * math.sin(angle)
        _flat(spec, (x, y, half, long), "line", float(angle))


def _goals(spec: mujoco.MjSpec, pitch: Pitch) -> None:
    """Dark boards between the posts."""
    for sign in (-1, 1):
        geom = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, contype=0, conaffinity=0, rgba=colour("goal"))
        geom.pos = [sign * (pitch.length_m / 2 + BOARD_M / 2), 0, pitch.board_m / 2]
        geom.size = [BOARD_M / 2, pitch.goal_width_m / 2, pitch.board_m / 2]


def _hall(spec: mujoco.MjSpec, pitch: Pitch) -> None:
    """Walls around the field in parts of random colours, so that nothing beyond the boards is like the field."""
    random, grey = np.random.default_rng(3), colour("beyond")[:3]
    x, y = pitch.length_m / 2 + HALL_M, pitch.width_m / 2 + HALL_M
    for along, across, turned in ((x, y, False), (y, x, True)):
        edges = np.linspace(-along - 0.1, along + 0.1, WALLS + 1)
        for sign in (-1, 1):
            for low, high in zip(edges[:-1], edges[1:], strict=True):
                place, size = [(low + high) / 2, sign * across], [(high - low) / 2, 0.05]
                rgba = [*np.clip(grey + 0.5 * (random.random(3) - 0.5), 0, 1), 1.0]
                geom = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, contype=0, conaffinity=0, rgba=rgba)
                geom.pos, geom.size = (
                    [*(place[::-1] if turned else place), 2.0],
                    [*(size[::-1] if turned else size), 2.0],
                )
