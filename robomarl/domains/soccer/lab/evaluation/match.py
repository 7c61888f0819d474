"""Matches and set pieces: two players of whole teams, one engine, and the counts. Numpy; engine-agnostic."""

from typing import NamedTuple

import numpy as np

from robomarl.domains.soccer.lab.batch import SoccerSim
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.placement import PLACE_DRAWS, set_piece
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.league.two_sides import Player
from robomarl.lab.sim.sides import team_view

IMPACT_M_S = 0.3
"""Robot-robot impacts above this closing speed are counted."""
STANDING_M_S = 0.1
"""Speed [m/s] of a robot's own part of an impact below which it stood, and its opponent in the impact caused it."""


class MatchTally(NamedTuple):
    """Counts of E games, [E] each."""

    goals_for: np.ndarray
    goals_against: np.ndarray
    impacts: np.ndarray
    """Impacts above `IMPACT_M_S` that our robots caused."""
    impacts_against: np.ndarray
    """Those that theirs caused."""
    kicks: np.ndarray
    """Kicks of ours that hit the ball."""


class Track(NamedTuple):
    """One game, T decisions, for pictures; world frame."""

    time_s: np.ndarray
    ball_m: np.ndarray
    """[T, 2]"""
    robots_m: np.ndarray
    """[T, M, 3] x, y and heading."""
    goals: np.ndarray
    """[T, 2] so far, ours and theirs."""


def count(scenario: SoccerScenario, so_far: MatchTally, game: SoccerWorld) -> MatchTally:
    """Add one decision."""
    n, contacts = scenario.count, game.contacts
    blame = (contacts.impact_m_s > IMPACT_M_S) & (contacts.own_m_s > STANDING_M_S)
    return MatchTally(
        goals_for=so_far.goals_for + (game.referee.scored > 0),
        goals_against=so_far.goals_against + (game.referee.scored < 0),
        impacts=so_far.impacts + blame[:, :n].sum(-1),
        impacts_against=so_far.impacts_against + blame[:, n:].sum(-1),
        kicks=so_far.kicks + contacts.kicked[:, :n].sum(-1),
    )


def play_set_pieces(sim: SoccerSim, player: Player, seed: int, seconds: float = 8.0) -> tuple[np.ndarray, np.ndarray]:
    """Ball at rest, open goal, one robot a metre behind the ball; everybody else stands in the far corners.

    Args:
        sim: the engine.
        player: our team; only its first robot moves.
        seed: of the places.
        seconds: for each.

    Returns:
        [E] bool: scored; and [E] time from the start to the first kick [s], infinite where there was none.
    """
    scenario, random = sim.scenario, np.random.default_rng(seed)
    draws = random.uniform(size=(sim.num_envs, PLACE_DRAWS)).astype(np.float32)
    robots, ball = set_piece(scenario, draws)
    sim.set_world(sim.reset()._replace(robots=robots, ball=ball))
    carry = player.init(team_view(scenario, sim.views(), 0))
    scored, kicked = np.zeros(sim.num_envs, bool), np.full(sim.num_envs, np.inf)
    for step in range(round(seconds * scenario.rates.policy_hz)):
        carry, command = player(carry, team_view(scenario, sim.views(), 0))
        everybody = np.zeros((sim.num_envs, scenario.players, 4), np.float32)
        everybody[:, 0] = command[:, 0]
        game = sim.step(everybody)
        now = (step + 1) * scenario.period_s
        before = game.referee.restarts == (game.referee.scored > 0)
        scored |= (game.referee.scored > 0) & before
        kicked = np.where(game.contacts.kicked[:, 0], np.minimum(kicked, now), kicked)
    return scored, kicked


def row(game: SoccerWorld, index: int) -> tuple[np.ndarray, ...]:
    """Return the row of a `Track` for one decision of one game, without the time."""
    robots, ball = game.robots, game.ball
    heading = np.arctan2(robots.s[index], robots.c[index])
    return (
        np.array([ball.x[index], ball.y[index]]),
        np.stack([robots.x[index], robots.y[index], heading], -1),
        np.array([goals[index] for goals in game.referee.goals]),
    )


def track(scenario: SoccerScenario, rows: list[tuple[np.ndarray, ...]]) -> Track:
    """The rows of a game in their order."""
    return Track(np.arange(len(rows)) * scenario.period_s, *(np.stack(column) for column in zip(*rows, strict=True)))
