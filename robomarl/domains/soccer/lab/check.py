"""Comparison of the engines of a game: see `robomarl.lab.sim.check`.

Four trials. Drive: every robot has room, and is given accelerations anywhere within the limits,
held for a few tenths of a second, and yaw rates. Kick: one robot kicks the ball into a corner, so
that it bounces twice; no other robot is near. Press: one robot rolls at the ball, which lies at a
board, and another one at the board itself; both are thrown back. Block: a fast ball meets one
robot's round side, anywhere but squarely, and goes on in another direction.
"""

import dataclasses

import numpy as np

from robomarl.core.types import Figures
from robomarl.domains.soccer.lab.batch import SIMS
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.physics.ball import Ball
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots
from robomarl.domains.soccer.lab.placement import facing
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.probe import CheckTrial, Probe, Seen
from robomarl.lab.sim.check import held

GAMES = 16
DRIVE_S, KICK_S, PRESS_S, BLOCK_S = 1.5, 2.0, 0.4, 0.2
AFTER_S = 0.2
"""The ball is compared until this time after its second bounce."""
HOLD_S = 0.3
ROOM_M = (0.03, 0.06)
"""Range of distances [m] at which the pressing robots begin, to the ball or the board."""
ROLLS_M_S = 0.8
"""How fast they come."""
SHOT_M_S = 6.0
"""How fast the ball comes that is blocked: the longer the two touch, the straighter it goes on."""
Start = tuple[SoccerWorld, np.ndarray]
"""Games, and commands [T, E, M, 4]."""


def mistaken(world: SoccerWorld, factors: dict[str, float]) -> SoccerWorld:
    """Return the game with fields of `SoccerParameters` multiplied."""
    wrong = {name: getattr(world.hidden, name) * np.float32(factor) for name, factor in factors.items()}
    return world._replace(hidden=world.hidden._replace(**wrong))


def _wide(scenario: SoccerScenario, seconds: float) -> SoccerScenario:
    """Return the scenario on a field where no robot can reach another or the boards within the trial."""
    room = 2 * scenario.robot.limits.speed_m_s * DRIVE_S + 1.0
    area = dataclasses.replace(scenario.field, length_m=2 * room, width_m=room * (scenario.players + 1))
    return dataclasses.replace(scenario, field=area)


def _drive_start(scenario: SoccerScenario, world: SoccerWorld, random: np.random.Generator, seconds: float) -> Start:
    shape = world.robots.x.shape
    lanes = (np.arange(scenario.players) + 1) * scenario.field.width_m / (scenario.players + 1)
    y = np.broadcast_to(lanes - scenario.field.width_m / 2, shape).astype(np.float32)
    angle = random.uniform(-np.pi, np.pi, shape).astype(np.float32)
    robots = facing(y * 0, y, np.cos(angle), np.sin(angle))
    steps, hold = (max(1, round(s * scenario.rates.policy_hz)) for s in (DRIVE_S, HOLD_S))
    commands = held(random, scenario.command_limits, (steps, *shape), hold)
    return world._replace(robots=robots, ball=_at(world.ball, y[:, 0] * 0 - 1)), commands


def _kick_start(scenario: SoccerScenario, world: SoccerWorld, random: np.random.Generator, seconds: float) -> Start:
    """Place the first robot at the middle, the ball at its face; all further robots at the far end, out of the way."""
    (x, y), area = _at_the_end(scenario, world), scenario.field
    shape, x[:, 0], y[:, 0] = x.shape, 0.0, 0.0
    up = random.choice([-1.0, 1.0], shape[0])
    target = random.uniform((area.goal_width_m + area.width_m) / 4, 0.45 * area.width_m, shape[0])
    angle = np.zeros(shape, np.float32)
    angle[:, 0] = up * np.arctan2(target, area.length_m / 2)
    robots = facing(x, y, np.cos(angle), np.sin(angle))
    reach = scenario.kicker.face_m + scenario.ball.radius_m + scenario.kicker.reach_m / 4
    ball = _at(world.ball, reach * np.cos(angle[:, 0]), reach * np.sin(angle[:, 0]))
    commands = np.zeros((round(KICK_S * scenario.rates.policy_hz), *shape, 4), np.float32)
    commands[:2, :, 0, 3] = random.uniform(0.7, 0.9, shape[0]) * scenario.kicker.max_speed_m_s
    return world._replace(robots=robots, ball=ball), commands


def _press_start(scenario: SoccerScenario, world: SoccerWorld, random: np.random.Generator, seconds: float) -> Start:
    """Place the first robot before the ball at one side, the last one before the opposite side; they roll on at
    `ROLLS_M_S`.
    """
    (x, y), side, body = _at_the_end(scenario, world), scenario.field.width_m / 2, scenario.robot.body
    lies = side - scenario.ball.radius_m
    before = scenario.ball.radius_m + scenario.kicker.face_m, body.radius_m
    ends = lies - before[0], side - before[1]
    x[:, [0, -1]], angle, vy = 0.0, np.full(x.shape, np.pi / 2, np.float32), x * 0
    for k, sign, end in ((0, 1, ends[0]), (-1, -1, ends[1])):
        y[:, k], vy[:, k] = sign * (end - random.uniform(*ROOM_M, len(y))), sign * ROLLS_M_S
    robots = facing(x, y, np.cos(angle), np.sin(angle))._replace(vy=vy)
    commands = np.zeros((round(PRESS_S * scenario.rates.policy_hz), *x.shape, 4), np.float32)
    return world._replace(robots=robots, ball=_at(world.ball, 0 * x[:, 0], 0 * x[:, 0] + lies)), commands


def _block_start(scenario: SoccerScenario, world: SoccerWorld, random: np.random.Generator, seconds: float) -> Start:
    """The first robot at the middle, its back to the ball, which comes along x and meets it anywhere but squarely."""
    (x, y), reach = _at_the_end(scenario, world), scenario.robot.body.radius_m + scenario.ball.radius_m
    shape, x[:, 0], y[:, 0] = x.shape, 0.0, 0.0
    aside = random.choice([-1.0, 1.0], shape[0]) * random.uniform(0.1, 0.9, shape[0]) * reach
    ball = _at(world.ball, -reach - random.uniform(0.2, 0.25, shape[0]), aside)
    speed = np.full(shape[0], SHOT_M_S, np.float32)
    ball = ball._replace(vx=speed, ux=speed)
    robots = facing(x, y, np.ones(shape, np.float32), np.zeros(shape, np.float32))
    commands = np.zeros((round(BLOCK_S * scenario.rates.policy_hz), *shape, 4), np.float32)
    return world._replace(robots=robots, ball=ball), commands


def _at_the_end(scenario: SoccerScenario, world: SoccerWorld) -> tuple[np.ndarray, np.ndarray]:
    """[E, M] places of all robots in a row at the far end, out of the way."""
    shape, area, size = world.robots.x.shape, scenario.field, scenario.robot.body.radius_m
    rows = np.linspace(-1, 1, scenario.players) * (area.width_m / 2 - 2 * size)
    y = np.broadcast_to(rows, shape).astype(np.float32).copy()
    return np.full(shape, 2 * size - area.length_m / 2, np.float32), y


def _at(ball: Ball, x: np.ndarray, y: np.ndarray | None = None) -> Ball:
    rest = (ball.x * 0).astype(np.float32)
    return Ball(x.astype(np.float32), rest if y is None else y.astype(np.float32), rest, rest, rest, rest)


def compare(scenario: SoccerScenario, first: tuple[Seen, ...], second: tuple[Seen, ...]) -> Figures:
    """How far two engines are apart, in all trials."""
    (a, c, e, g), (b, d, f, h) = first, second
    one, other = (_kick_speed(games) for games in (c, d))
    return {
        "position_diff_m": max(_apart(x.robots, y.robots, ("x", "y")) for x, y in zip(a, b, strict=True)),
        "attitude_diff_rad": max(_apart(x.robots, y.robots, ("c", "s")) for x, y in zip(a, b, strict=True)),
        "ball_diff_m": _ball_apart(c, d, round(AFTER_S * scenario.rates.policy_hz)),
        "kick_diff": float(np.max(np.abs(one - other) / np.maximum(one, other))),
        "kick_speed_m_s": float(one.mean()),
        "kick_back_diff": float(np.abs(_kick_back(e) - _kick_back(f)).max()),
        "block_diff_rad": float(np.abs(_leaves_rad(g) - _leaves_rad(h)).mean()),
        "bounces": int(min(_bounces(c)[-1].min(), _bounces(d)[-1].min())),
    }


def _apart(first: OmniRobots | Ball, second: OmniRobots | Ball, names: tuple[str, str]) -> float:
    x, y = (getattr(first, n) - getattr(second, n) for n in names)
    return float(np.hypot(x, y).max())


def _ball_apart(first: list[SoccerWorld], second: list[SoccerWorld], after: int) -> float:
    """Worst distance between the balls until `after` decisions past the second bounce on both engines."""
    apart = np.stack([np.hypot(a.ball.x - b.ball.x, a.ball.y - b.ball.y) for a, b in zip(first, second, strict=True)])
    bounced = np.minimum(_bounces(first), _bounces(second))
    counted = np.arange(len(apart))[:, None] <= (bounced < 2).sum(0) + after
    return float(np.where(counted, apart, 0.0).max())


def _kick_back(games: list[SoccerWorld]) -> np.ndarray:
    """[2] share of its speed with which a robot leaves the pressed ball, and the board; means over games."""
    return -games[-1].robots.vy[:, [0, -1]].mean(0) / np.array([ROLLS_M_S, -ROLLS_M_S])


def _leaves_rad(games: list[SoccerWorld]) -> np.ndarray:
    """[E] by how much the ball's direction has turned."""
    ball = games[-1].ball
    return np.abs(np.arctan2(ball.vy, ball.vx))


def _kick_speed(games: list[SoccerWorld]) -> np.ndarray:
    """[E] speed of the ball at the end of the decision in which it was kicked."""
    speed = np.stack([np.hypot(g.ball.vx, g.ball.vy) for g in games])
    kicked = np.stack([g.contacts.kicked.any(-1) for g in games])
    return speed[kicked.argmax(0), np.arange(speed.shape[1])]


def _bounces(games: list[SoccerWorld]) -> np.ndarray:
    """[T, E] how often the ball's velocity has changed its sign on one axis so far."""
    velocity = np.stack([np.stack([g.ball.vx, g.ball.vy]) for g in games])
    turned = ((velocity[1:] * velocity[:-1]) < 0).sum(1).cumsum(0)
    return np.concatenate([turned[:1] * 0, turned])


PROBE = Probe(
    trials=(
        CheckTrial(_drive_start, _wide),
        CheckTrial(_kick_start),
        CheckTrial(_press_start),
        CheckTrial(_block_start),
    ),
    compare=compare,
    limits={
        "position_diff_m": 0.02,
        "attitude_diff_rad": 0.035,
        "ball_diff_m": 0.05,
        "kick_diff": 0.01,
        "kick_back_diff": 0.08,
        "block_diff_rad": 0.15,
    },
    least={"bounces": 2},
    mistaken=mistaken,
    engines=SIMS,
    teams=GAMES,
    is_timed=False,
)
