"""Places of robots and ball: for a kick-off, or anywhere on the field. Array-generic."""

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.soccer.lab.physics.ball import Ball
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots
from robomarl.domains.soccer.lab.scenario import SoccerScenario

PLACE_DRAWS = 3
"""Uniform draws per robot."""
BEHIND_M = 1.0
"""Set piece: how far behind the ball the robot starts."""
LINE_RAD = 0.5
"""Set piece: how far off the line through ball and goal it may be, seen from the ball."""


def sides(scenario: SoccerScenario) -> np.ndarray:
    """[M] float32: +1 for our robots, -1 for theirs: from the world to each team's field frame and back."""
    return np.repeat(np.array([1.0, -1.0], np.float32), scenario.count)


def kick_off(scenario: SoccerScenario, draws: Array, first: Array) -> tuple[OmniRobots, Ball]:
    """Place all robots at rest in their own half, facing the opposite goal; the ball in the middle.

    Args:
        scenario: fixed numbers.
        draws: [..., M, PLACE_DRAWS] uniform draws.
        first: [...] 1 where our attacker kicks off, from half the distance of the remaining field
            players; else -1.
    """
    xp, side = namespace(draws), sides(scenario)
    depth, lane = line_up(scenario)
    begins = np.tile(np.arange(scenario.count) == 0, 2)
    near = begins & (side == first[..., None])
    back = xp.where(near, scenario.rules.kickoff_m, depth)
    jitter = (2 * draws - 1) * scenario.rules.jitter_m
    room = scenario.field.length_m / 2 - scenario.robot.body.radius_m
    x = side * -xp.minimum(back + jitter[..., 0], room)
    y = side * (lane + jitter[..., 1])
    robots = facing(x, y, side + 0 * x, jitter[..., 2])
    zero = x[..., 0] * 0
    return robots, Ball(zero, zero, zero, zero, zero, zero)


def line_up(scenario: SoccerScenario) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance [M] behind the middle, and left of the middle, of every robot in its own
    frame.

    The first robot of a team is in front of the ball, the last one at its goal, all further ones in
    between on the wings, left and right in turn.
    """
    count, half = scenario.count, scenario.field.length_m / 2
    depth = np.full(count, 2 * scenario.rules.kickoff_m)
    lane = np.zeros(count)
    for i in range(1, count):
        depth[i] = depth[0] + (half - 2 * scenario.robot.body.radius_m - depth[0]) * i / max(count - 1, 1)
        lane[i] = 0.0 if i == count - 1 else (-1) ** i * scenario.field.width_m / 4
    return np.tile(depth, 2).astype(np.float32), np.tile(lane, 2).astype(np.float32)


def scatter(scenario: SoccerScenario, draws: Array, team: Array) -> tuple[OmniRobots, Ball]:
    """Place all robots anywhere, each in a lane of its own, so that no robot starts inside another; the ball
    rolling.
    """
    xp, area, radius = namespace(draws), scenario.field, scenario.robot.body.radius_m
    lanes, width = scenario.players, area.width_m / scenario.players
    order = xp.argsort(draws[..., 1], axis=-1)
    middle = (order + 0.5) * width - area.width_m / 2
    inside = draws[..., 1] * lanes % 1.0 - 0.5
    y = middle + inside * (width - 2 * radius)
    x = (2 * draws[..., 0] - 1) * (area.length_m / 2 - radius)
    angle = np.pi * (2 * draws[..., 2] - 1)
    robots = facing(x.astype(draws.dtype), y.astype(draws.dtype), xp.cos(angle), xp.sin(angle))
    margin = 2 * scenario.ball.radius_m
    bx = (2 * team[..., 0] - 1) * (area.length_m / 2 - margin)
    by = (2 * team[..., 1] - 1) * (area.width_m / 2 - margin)
    vx, vy = 2 * team[..., 2] - 1, 2 * team[..., 3] - 1
    return robots, Ball(bx, by, vx, vy, vx, vy)


def set_piece(scenario: SoccerScenario, draws: Array) -> tuple[OmniRobots, Ball]:
    """The ball at rest in their half, our first robot a metre behind it, the goal open: all others far behind.

    Args:
        scenario: fixed numbers.
        draws: [..., PLACE_DRAWS] uniform draws.
    """
    xp, area, size = namespace(draws), scenario.field, 2 * scenario.robot.body.radius_m
    x = (0.05 + 0.2 * draws[..., 0]) * area.length_m
    y = 0.2 * (2 * draws[..., 1] - 1) * area.width_m
    line = xp.arctan2(-y, area.length_m / 2 - x) + LINE_RAD * (2 * draws[..., 2] - 1)
    c, s = xp.cos(line)[..., None], xp.sin(line)[..., None]
    first = np.arange(scenario.players) == 0
    corners = np.linspace(-1, 1, scenario.players, dtype=np.float32) * (area.width_m / 2 - size)
    robots = facing(
        xp.where(first, x[..., None] - BEHIND_M * c, size - area.length_m / 2),
        xp.where(first, y[..., None] - BEHIND_M * s, corners),
        xp.where(first, c, 1.0),
        xp.where(first, s, 0.0),
    )
    zero = x * 0
    return robots, Ball(x, y, zero, zero, zero, zero)


def facing(x: Array, y: Array, c: Array, s: Array) -> OmniRobots:
    """Robots at rest at these places, facing along (c, s), which need not be of length 1."""
    xp, zero = namespace(x), x * 0
    size = xp.sqrt(c * c + s * s)
    return OmniRobots(x, y, c / size, s / size, zero, zero, zero, zero)
