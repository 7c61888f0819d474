"""`check` of a game: the engines from the same start with the same commands, and how far apart they drift.

Two trials. Drive: every robot has room, and is given accelerations anywhere within the limits, held for a few tenths
of a second, and yaw rates. Kick: one robot kicks the ball into a corner, so that it bounces twice; nobody else is near.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from tqdm import tqdm

from robomarl.domains.soccer.batch import SIMS, SoccerSim, make_soccer
from robomarl.domains.soccer.game import Game
from robomarl.domains.soccer.physics.ball import Ball
from robomarl.domains.soccer.placement import facing
from robomarl.domains.soccer.scenario import SoccerScenario

POSITION_LIMIT_M = 0.02
ATTITUDE_LIMIT_RAD = 0.035
BALL_LIMIT_M = 0.05
KICK_LIMIT = 0.05
GAMES = 16
DRIVE_S, KICK_S = 1.5, 2.0
AFTER_S = 0.2
"""The ball is compared until this time after its second bounce."""
HOLD_S = 0.3
Errors = Mapping[str, Mapping[str, float]]
"""Engine -> {field of `Chance`: factor}, to see that an error is found."""


def check_soccer(scenario: SoccerScenario, seed: int = 0, errors: Errors | None = None) -> dict[str, Any]:
    """Play the same trials on both engines.

    Args:
        scenario: what is compared.
        seed: of randomization, commands and kicks.
        errors: factors on what is true in one engine.

    Returns:
        `position_diff_m`, `attitude_diff_rad` (robots), `ball_diff_m` (worst until shortly after two bounces),
        `kick_diff` (relative, in the ball's speed after the kick), `bounces` (least number in a game), `passed`.
    """
    with tqdm(total=2 * len(SIMS), desc="check", unit="trial", leave=False, disable=None) as bar:
        drives = [
            _play(make_soccer(_wide(scenario), s, GAMES, seed), _drive_start, seed, (s, errors), bar) for s in SIMS
        ]
        kicks = [_play(make_soccer(scenario, s, GAMES, seed), _kick_start, seed, (s, errors), bar) for s in SIMS]
    return _figures(scenario, seed, (drives, kicks))


def _play(sim: SoccerSim, start: Any, seed: int, planted: tuple[str, Errors | None], bar: tqdm) -> list[Game]:
    name, errors = planted
    world, commands = start(sim.scenario, sim.reset(), np.random.default_rng(seed))
    wrong = {k: getattr(world.hidden, k) * np.float32(f) for k, f in (errors or {}).get(name, {}).items()}
    sim.set_world(world._replace(hidden=world.hidden._replace(**wrong)))
    games = [sim.step(command) for command in commands]
    bar.update()
    return games


def _wide(scenario: SoccerScenario) -> SoccerScenario:
    """The scenario on a field where nobody can reach another or the boards within the trial."""
    room = 2 * scenario.robot.limits.speed_m_s * DRIVE_S + 1.0
    area = dataclasses.replace(scenario.field, length_m=2 * room, width_m=room * (scenario.players + 1))
    return dataclasses.replace(scenario, field=area)


def _drive_start(scenario: SoccerScenario, world: Game, random: np.random.Generator) -> tuple[Game, np.ndarray]:
    shape, steps = (GAMES, scenario.players), round(DRIVE_S * scenario.rates.policy_hz)
    lanes = (np.arange(scenario.players) + 1) * scenario.field.width_m / (scenario.players + 1)
    y = np.broadcast_to(lanes - scenario.field.width_m / 2, shape).astype(np.float32)
    angle = random.uniform(-np.pi, np.pi, shape).astype(np.float32)
    robots = facing(y * 0, y, np.cos(angle), np.sin(angle))
    low, high = scenario.command_limits
    held = max(1, round(HOLD_S * scenario.rates.policy_hz))
    picks = random.uniform(low, high, (-(-steps // held), *shape, 4)).astype(np.float32)
    return world._replace(robots=robots, ball=_at(world.ball, y[:, 0] * 0 - 1)), np.repeat(picks, held, 0)[:steps]


def _kick_start(scenario: SoccerScenario, world: Game, random: np.random.Generator) -> tuple[Game, np.ndarray]:
    """The first robot at the middle, the ball at its face; the others at the far end, out of the way."""
    shape, area, size = (GAMES, scenario.players), scenario.field, scenario.robot.body.radius_m
    rows = np.linspace(-1, 1, scenario.players) * (area.width_m / 2 - 2 * size)
    y, x = (
        np.broadcast_to(rows, shape).astype(np.float32).copy(),
        np.full(shape, 2 * size - area.length_m / 2, np.float32),
    )
    x[:, 0], y[:, 0] = 0.0, 0.0
    up = random.choice([-1.0, 1.0], GAMES)
    target = random.uniform((area.goal_width_m + area.width_m) / 4, 0.45 * area.width_m, GAMES)
    angle = np.zeros(shape, np.float32)
    angle[:, 0] = up * np.arctan2(target, area.length_m / 2)
    robots = facing(x, y, np.cos(angle), np.sin(angle))
    reach = scenario.kicker.face_m + scenario.ball.radius_m + scenario.kicker.reach_m / 4
    ball = _at(world.ball, reach * np.cos(angle[:, 0]), reach * np.sin(angle[:, 0]))
    commands = np.zeros((round(KICK_S * scenario.rates.policy_hz), *shape, 4), np.float32)
    commands[:2, :, 0, 3] = random.uniform(0.7, 0.9, GAMES) * scenario.kicker.max_speed_m_s
    return world._replace(robots=robots, ball=ball), commands


def _at(ball: Ball, x: np.ndarray, y: np.ndarray | None = None) -> Ball:
    rest = (ball.x * 0).astype(np.float32)
    return Ball(x.astype(np.float32), rest if y is None else y.astype(np.float32), rest, rest, rest, rest)


def _figures(scenario: SoccerScenario, seed: int, trials: tuple[list[list[Game]], list[list[Game]]]) -> dict[str, Any]:
    (a, b), (c, d) = trials
    place = max(_apart(x.robots, y.robots, ("x", "y")) for x, y in zip(a, b, strict=True))
    turn = max(_apart(x.robots, y.robots, ("c", "s")) for x, y in zip(a, b, strict=True))
    ball = _ball_apart(c, d, round(AFTER_S * scenario.rates.policy_hz))
    one, other = (_kick_speed(games) for games in (c, d))
    kick = float(np.max(np.abs(one - other) / np.maximum(one, other)))
    bounces = int(min(_bounces(c)[-1].min(), _bounces(d)[-1].min()))
    limits = {
        "position": (place, POSITION_LIMIT_M),
        "attitude": (turn, ATTITUDE_LIMIT_RAD),
        "ball": (ball, BALL_LIMIT_M),
        "kick": (kick, KICK_LIMIT),
    }
    return {
        "scenario": scenario.name,
        "sims": list(SIMS),
        "seed": seed,
        "teams": GAMES,
        "position_diff_m": place,
        "attitude_diff_rad": turn,
        "ball_diff_m": ball,
        "kick_diff": kick,
        "kick_speed_m_s": float(one.mean()),
        "bounces": bounces,
        "limits": {name: limit for name, (_, limit) in limits.items()},
        "passed": bool(bounces >= 2 and all(value <= limit for value, limit in limits.values())),
    }


def _apart(first: Any, second: Any, names: tuple[str, str]) -> float:
    x, y = (getattr(first, n) - getattr(second, n) for n in names)
    return float(np.hypot(x, y).max())


def _ball_apart(first: list[Game], second: list[Game], after: int) -> float:
    """Worst distance between the balls until `after` decisions past the second bounce on both engines."""
    apart = np.stack([np.hypot(a.ball.x - b.ball.x, a.ball.y - b.ball.y) for a, b in zip(first, second, strict=True)])
    bounced = np.minimum(_bounces(first), _bounces(second))
    counted = np.arange(len(apart))[:, None] <= (bounced < 2).sum(0) + after
    return float(np.where(counted, apart, 0.0).max())


def _kick_speed(games: list[Game]) -> np.ndarray:
    """[E] speed of the ball at the end of the decision in which it was kicked."""
    speed = np.stack([np.hypot(g.ball.vx, g.ball.vy) for g in games])
    kicked = np.stack([g.contacts.kicked.any(-1) for g in games])
    return speed[kicked.argmax(0), np.arange(speed.shape[1])]


def _bounces(games: list[Game]) -> np.ndarray:
    """[T, E] how often the ball's velocity has changed its sign on one axis so far."""
    velocity = np.stack([np.stack([g.ball.vx, g.ball.vy]) for g in games])
    turned = ((velocity[1:] * velocity[:-1]) < 0).sum(1).cumsum(0)
    return np.concatenate([turned[:1] * 0, turned])


def table(figures: dict[str, Any]) -> str:
    """One line for each figure, and the verdict."""
    keys = {"position": "position_diff_m", "attitude": "attitude_diff_rad", "ball": "ball_diff_m", "kick": "kick_diff"}
    lines = [f"{'difference':<12}{'found':>10}{'limit':>10}"]
    lines += [f"{name:<12}{figures[key]:>10.2g}{figures['limits'][name]:>10.2g}" for name, key in keys.items()]
    verdict = "the engines agree" if figures["passed"] else "the engines DISAGREE"
    kick = f"a kick at {figures['kick_speed_m_s']:.1f} m/s and {figures['bounces']} bounces or more"
    return "\n".join([*lines, f"{figures['scenario']}, {kick}: {verdict}."])
