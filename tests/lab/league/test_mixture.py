"""Mathematics of leagues, held to games that are worked out by hand."""

import numpy as np
import pytest

from robomarl.lab.league.mixture import elo, exploiters, nash
from robomarl.lab.league.players import LeaguePlayer
from robomarl.lab.league.psro import PARTS, against_mixture, parts_of
from robomarl.lab.league.table import LeagueMatches, figures_of, score_of
from robomarl.lab.league.telling import excerpt, telling

ROCK_PAPER_SCISSORS = np.array([[0, -0.5, 0.5], [0.5, 0, -0.5], [-0.5, 0.5, 0]])


def test_rock_paper_and_scissors_are_mixed_equally_and_a_dominated_player_not_at_all():
    assert nash(ROCK_PAPER_SCISSORS) == pytest.approx([1 / 3] * 3)
    with_loser = np.zeros((4, 4))
    with_loser[:3, :3] = ROCK_PAPER_SCISSORS
    with_loser[:3, 3], with_loser[3, :3] = 0.1, -0.1
    weights = nash(with_loser)
    assert weights == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert exploiters(with_loser, weights)[1] == pytest.approx(0, abs=1e-9)
    assert exploiters(with_loser, np.array([1.0, 0, 0, 0])) == (1, 0.5)


def test_wins_of_other_sizes_move_the_mixture_as_worked_out_by_hand():
    a, b, c = 0.5, 0.3, 0.1  # of the first over the second, the third over the first, the second over the third
    payoff = np.array([[0, a, -b], [-a, 0, c], [b, -c, 0]])
    assert nash(payoff) == pytest.approx(np.array([c, b, a]) / (a + b + c))


def test_ratings_are_those_that_made_the_points():
    true, matches = np.array([1200.0, 1000.0, 800.0]), np.full((3, 3), 1e6)
    np.fill_diagonal(matches, 0)
    points = matches / (1 + 10 ** ((true[None] - true[:, None]) / 400))
    assert elo(points, matches) == pytest.approx(true, abs=0.01)
    never_lost = elo(np.array([[0.0, 10.0], [0.0, 0.0]]), np.array([[0.0, 10.0], [10.0, 0.0]]))
    assert np.isfinite(never_lost).all() and never_lost[0] > never_lost[1]


def cycle(matches: int = 40) -> LeagueMatches:
    """A beats B, B beats C, C beats A, each in nine of ten matches; D loses all."""
    names = "ABCD"
    players = tuple(LeaguePlayer(name, "script", name) for name in names)
    beats = {(0, 1): 1, (1, 2): 1, (0, 2): 0, (0, 3): 1, (1, 3): 1, (2, 3): 1}
    points = {}
    for pair, first in beats.items():
        rows = np.tile([3, 0] if first else [0, 3], (matches, 1))
        if pair[1] < 3:
            rows[::10] = rows[::10, ::-1]
        points[pair] = rows
    return LeagueMatches(players, points)


def test_figures_of_a_league_say_who_exploits_whom():
    found = figures_of(cycle())
    assert [row["player"] for row in found["players"]][-1] == "D"
    by = {row["player"]: row for row in found["players"]}
    assert {name: by[name]["exploitability"]["by"] for name in "ABC"} == {"A": "C", "B": "A", "C": "B"}
    for row in found["players"]:
        assert row["elo_ci95"][0] - 1e-6 <= row["elo"] <= row["elo_ci95"][1] + 1e-6
        assert row["nash"] == pytest.approx(0 if row["player"] == "D" else 1 / 3, abs=1e-6)
    low, high = by["A"]["exploitability"]["ci95"]
    assert by["A"]["exploitability"]["score"] == pytest.approx(0.4) and low < 0.4 < high
    assert found["mixture"]["exploitability"] >= 0
    pair = found["pairs"][0]
    assert (pair["won"], pair["drawn"], pair["lost"], pair["score"]) == (36, 0, 4, 0.9)


def test_telling_matches_differ_and_one_is_an_upset():
    league = cycle()
    found = telling(league, [1100.0, 1000.0, 900.0, 500.0], 5)
    assert len({(one.pair, one.match) for one in found}) == 5
    upset = next(one for one in found if "upset" in one.why)
    ours = score_of(league.points[upset.pair])[upset.match]
    assert ours == 0, "the lower rated player is the second of the pair"


def test_a_film_ends_after_the_last_point_of_the_winner():
    points = np.zeros((1000, 2), int)
    points[300:, 0], points[700:, 0], points[900:, 1] = 1, 2, 1
    assert excerpt(points, 0.1) == slice(610, 710)
    assert excerpt(np.zeros((1000, 2), int), 0.1) == slice(900, 1000)


def test_parts_of_a_training_are_those_of_the_mixture_as_near_as_eight_parts_can_be():
    assert parts_of({"a": 1.0, "b": 0.0}) == {"a": PARTS, "b": 0}
    assert parts_of({"a": 0.5, "b": 0.3, "c": 0.2}) == {"a": 4, "b": 2, "c": 2}
    assert parts_of({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}) == {"a": 3, "b": 3, "c": 2}


def test_a_score_against_a_mixture_has_the_interval_of_its_parts():
    scores = np.array([[1.0, 1, 1, 0], [0, 0, 0, 0]])
    assert against_mixture(scores, np.array([0.0, 1.0]))[:2] == (0.0, 0.0)
    mean, low, high = against_mixture(scores, np.array([0.5, 0.5]))
    spread = 1.96 * np.sqrt((0.25 * 0.625 * 0.375 + 0.25 * 0.25 * 0.75) / 8)  # (3 + 2) / 8 and (0 + 2) / 8
    assert (mean, low, high) == pytest.approx((0.375, 0.375 - spread, 0.375 + spread))
