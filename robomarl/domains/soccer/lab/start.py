"""Start of a game: places at a kick-off or anywhere on the field, and randomized parameters. Array-generic."""

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.soccer.lab.camera import true_pose
from robomarl.domains.soccer.lab.game import (
    RefereeState,
    SoccerParameters,
    SoccerWorld,
    num_step_draws,
    perceive,
    queue_length,
)
from robomarl.domains.soccer.lab.physics.ball import Ball
from robomarl.domains.soccer.lab.physics.contact import Contacts
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots
from robomarl.domains.soccer.lab.placement import PLACE_DRAWS, kick_off, scatter, set_piece
from robomarl.domains.soccer.lab.radio import silence
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sections import Interval
from robomarl.domains.soccer.lab.sight.slow_errors import no_errors
from robomarl.lab.sim.starts import KICK_OFF, Starts

CHANCE_DRAWS = 6
"""Uniform draws per robot for randomization; the last one of the first robot is the ball's."""


def num_start_draws(scenario: SoccerScenario) -> int:
    """Uniform draws per robot: places twice (kick-off, anywhere), randomization, the ball, and the first picture."""
    return 2 * PLACE_DRAWS + CHANCE_DRAWS + 6 + num_step_draws(scenario) - PLACE_DRAWS


def start_game(scenario: SoccerScenario, draws: Array, starts: Starts = KICK_OFF) -> SoccerWorld:
    """The state at the start of an episode.

    Args:
        scenario: fixed numbers and ranges.
        draws: [..., M, `num_start_draws`] uniform draws in [0, 1).
        starts: how many episodes start in another way than with a kick-off.
    """
    xp = namespace(draws)
    team, rest = draws[..., 0, -6:], draws[..., 2 * PLACE_DRAWS :]
    first = xp.where(team[..., 0] < 0.5, 1, -1)
    lined_up = kick_off(scenario, draws[..., :PLACE_DRAWS], first)
    spread = scatter(scenario, draws[..., PLACE_DRAWS : 2 * PLACE_DRAWS], team[..., 1:5])
    loose, ours = team[..., 5] < starts.anywhere, team[..., 5] >= 1 - starts.set_pieces
    robots, ball = lined_up
    for use, (a, b) in ((loose, spread), (ours, set_piece(scenario, team[..., 1 : 1 + PLACE_DRAWS]))):
        robots = OmniRobots(*(xp.where(use[..., None], *pair) for pair in zip(a, robots, strict=True)))
        ball = Ball(*(xp.where(use, *pair) for pair in zip(b, ball, strict=True)))
    game = blank_game(scenario, robots, ball, draw_chance(scenario, rest[..., :CHANCE_DRAWS]))
    return perceive(scenario, game, rest[..., CHANCE_DRAWS:-6])


def starts_alone(draws: Array, starts: Starts) -> Array:
    """[...] bool: whether a game that starts from these draws is a set piece that one robot takes alone."""
    return draws[..., 0, -1] >= 1 - starts.alone  # the largest start set pieces


def blank_game(scenario: SoccerScenario, robots: OmniRobots, ball: Ball, chance: SoccerParameters) -> SoccerWorld:
    """Return a game in which no robot has seen, received or been commanded anything yet."""
    xp, zero = namespace(ball.x), ball.x * 0
    still, count = robots.x * 0, (zero).astype(np.int32)
    sight, message, air = silence(scenario, robots.x)
    return SoccerWorld(
        robots=robots,
        ball=ball,
        queue=(xp.stack([still] * 4, -1),) * queue_length(scenario),
        hidden=chance,
        pose=true_pose(scenario, robots),
        sights=(sight,) * (1 + round(scenario.eyes.latency_s / scenario.period_s)),
        sent=(message,) * round(scenario.radio.latency_s / scenario.period_s),
        air=air,
        referee=RefereeState((count, count), count, count, (zero, zero), zero),
        contacts=Contacts(still, still, still > 0),
        step=count,
        errors=no_errors(scenario, robots.x) if scenario.eyes.tracks else (),
    )


def draw_chance(scenario: SoccerScenario, draws: Array) -> SoccerParameters:
    """Draw the randomized parameters, from [..., M, CHANCE_DRAWS] draws."""
    xp, ranges = namespace(draws), scenario.randomize
    return SoccerParameters(
        delay_substeps=xp.round(_pick(ranges.delay_s, draws[..., 0]) / scenario.physics_dt_s).astype(np.int32),
        noise_scale=_pick(ranges.noise_scale, draws[..., 1]),
        packet_loss=_pick(ranges.packet_loss, draws[..., 2]),
        accel_scale=_pick(ranges.accel_scale, draws[..., 3]),
        kick_scale=_pick(ranges.kick_scale, draws[..., 4]),
        rolling_m_s2=scenario.ball.rolling_m_s2 * _pick(ranges.rolling_scale, draws[..., 0, 5]),
    )


def _pick(interval: Interval, draw: Array) -> Array:
    return interval[0] + (interval[1] - interval[0]) * draw
