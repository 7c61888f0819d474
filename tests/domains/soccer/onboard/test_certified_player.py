"""Soccer robots through the certificate: opponents are strangers, boards are walls, kicks pass."""

import numpy as np
import pytest

from robomarl.core.filter.model.strangers import Strangers
from robomarl.domains.soccer.core.certified_player import CertifiedPlayer, PlayerMemory
from robomarl.domains.soccer.lab.batch import SoccerSim, make_soccer
from robomarl.lab.certified import CertifiedPlayers, CertifiedTeamCarry
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.sides import team_view
from tests.domains.soccer.games import APART, ball_at, plain, put, robots_at

SCENARIO = plain()
WAY = CertifiedPlayer(safety_params(SCENARIO))
TEAM = CertifiedPlayers(WAY, SCENARIO.robot.body.radius_m)
FACES = [(-1.0, 1.2, 0.0), APART[1], (-0.5, 1.2, 0.0), APART[3]]
"""Our first robot with an opponent half a metre before it, which stands."""


def game(places: list) -> SoccerSim:
    """A game with robots at rest at these places."""
    sim = make_soccer(SCENARIO, "fast", 1, 0)
    put(sim, robots_at(places), ball_at(0.0, -1.2))
    return sim


def play(sim: SoccerSim, nominal: list[float], decisions: int, carry: CertifiedTeamCarry) -> tuple:
    """Our first robot wants this, all others nothing; memory, last result, largest speed of the robot."""
    wish, fastest = np.zeros((1, SCENARIO.count, 4)), 0.0
    wish[0, 0] = nominal
    for _ in range(decisions):
        view = team_view(SCENARIO, sim.views(), 0)
        carry, result = TEAM(carry, view, wish)
        command = np.zeros((1, SCENARIO.players, 4), np.float32)
        command[:, : SCENARIO.count] = result.command
        sim.step(command)
        fastest = max(fastest, float(np.linalg.norm(view.own.vel_m_s[0, 0])))
    return carry, result, fastest


def test_a_player_goes_where_its_policy_wants_and_kicks():
    carry, result, fastest = play(game(APART), [1.0, 0.0, 0.5, 6.5], 40, TEAM.init((1, SCENARIO.count)))
    assert result.command.shape == (1, SCENARIO.count, 4) and fastest > 0.15
    assert result.command[0, 0, 2:].tolist() == pytest.approx([0.5, 6.5])
    assert isinstance(carry.worn, PlayerMemory) and isinstance(carry.worn.seen, Strangers)


def test_a_player_stands_before_an_opponent_and_kicks():
    _, result, fastest = play(game(FACES), [2.0, 0.0, 0.0, 6.5], 60, TEAM.init((1, SCENARIO.count)))
    assert fastest < 0.1 and not result.solved[0, 0] and result.command[0, 0, 3] == 6.5


@pytest.mark.parametrize("nominal", [[np.nan, 0, 0, 6.5], [0, 0, 0, np.nan]])
def test_a_command_that_is_no_number_does_not_kick(nominal: list[float]):
    _, result, _ = play(game(APART), nominal, 5, TEAM.init((1, SCENARIO.count)))
    assert np.isfinite(result.command).all() and result.command[0, 0, 3] == 0


def test_boards_are_walls():
    sim, (x, y) = game(APART), safety_params(SCENARIO).boards_m or (0.0, 0.0)
    assert WAY.params.boards_m is None and WAY.params.arena is not None and WAY.params.arena.high_m[:2] == (x, y)
    play(sim, [0.0, 2.0, 0.0, 0.0], 60, TEAM.init((1, SCENARIO.count)))
    place = team_view(SCENARIO, sim.views(), 0).own.pos_m[0, 0]
    assert 1.29 < place[1] < y - 0.06


def test_a_player_that_is_put_elsewhere_begins_there():
    """After a goal everybody is put back: nobody drives to where it was."""
    sim = game(APART)
    carry, _, _ = play(sim, [1.0, 0.0, 0.0, 0.0], 40, TEAM.init((1, SCENARIO.count)))
    put(sim, robots_at([(-1.5, -0.5, 0.0), *APART[1:]]), ball_at(0.0, -1.2))
    carry, _, fastest = play(sim, [0.0, 0.0, 0.0, 0.0], 3, carry)
    place = team_view(SCENARIO, sim.views(), 0).own.pos_m[0, 0]
    assert np.linalg.norm(carry.robots.course.pos_m[0, 0] - place) < 0.1
    _, _, fastest = play(sim, [0.0, 0.0, 0.0, 0.0], 25, carry)
    assert fastest < 0.25
