"""Leagues of real players: matches are equal whichever way they are shared, and kept; what can't play is told."""

import json
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UsageError, UserError
from robomarl.front import cli
from robomarl.lab.cluster.connect import Cluster
from robomarl.lab.league.attack import AttackOptions
from robomarl.lab.league.league import prepare, run_league
from robomarl.lab.league.matches import play, watch
from robomarl.lab.league.pairs import LeagueOptions, is_swapped, pairing
from robomarl.lab.league.players import check_players
from robomarl.lab.sim.scenario import load_scenario

SCRIPTS = ("keeper", "chaser")


@pytest.fixture
def game(tmp_path: Path, root: Path) -> str:
    file = tmp_path / "short.toml"
    text = (root / "sim/scenarios/soccer_2v2.toml").read_text()
    file.write_text(text.replace("time_limit_s = 60.0", "time_limit_s = 12.0"))
    return str(file)


def test_a_pair_plays_equally_again_and_a_watched_match_is_the_one_that_was_counted(game: str, tmp_path: Path):
    options = LeagueOptions(game, SCRIPTS, tmp_path / "out", matches=8)
    players = prepare(options)
    pair = (players[0], players[1])
    work = pairing(pair, options)
    assert work == pairing((pair[1], pair[0]), options), "the order of the names changes nothing"
    found = play(work)
    points = np.array(found["points"])
    assert points.shape == (8, 2) and points.sum() > 0
    match = int(np.argmax(points.sum(1)[4:])) + 4
    scenario, moments, so_far = watch(work, match)
    assert len(moments) == len(so_far) == scenario.max_steps
    assert so_far[-1].tolist() == points[match].tolist(), "in the second half of the matches sides are exchanged"
    ours, theirs = moments[-1].caption.split(" : ")
    assert [int(theirs), int(ours)] == points[match].tolist()
    assert found["first"] == pair[is_swapped(pair)].name
    work.file.write_text(json.dumps({**found, "points": [[7, 7]]}))
    assert play(work)["points"] == [[7, 7]], "a pair that was played is read"


def test_players_that_cannot_play_are_told_in_one_sentence(tmp_path: Path):
    scenario = load_scenario("soccer_2v2")
    for names, words in (
        (("keeper",), "two players or more"),
        (("keeper", "keeper"), "keeper is the same player as keeper"),
        (("soccer_2v2", "policies/soccer_2v2"), "is the same player as soccer_2v2"),
    ):
        with pytest.raises(UsageError, match=words):
            check_players(names, scenario, "full")
    for name, words in (
        ("swap_4", "swap_4 was trained for swap_4, which is another game than soccer_2v2"),
        ("baseline", "plays no game"),
        ("kepper", "did you mean 'keeper'"),
        (str(tmp_path), "no script, bundle or run folder"),
    ):
        with pytest.raises(UserError, match=words):
            check_players(("keeper", name), scenario, "full")
    with pytest.raises(UserError, match="teams of 2 to 3 robots, and soccer_1v1 has teams of 1"):
        check_players(("chaser", "soccer_2v2"), load_scenario("soccer_1v1"), "full")
    with pytest.raises(UserError, match="has no 'keeper'"):
        check_players(SCRIPTS, load_scenario("soccer_1v1"), "full")
    with pytest.raises(UserError, match="swap_4 is no game"):
        check_players(SCRIPTS, load_scenario("swap_4"), "full")
    for matches in (0, 3):
        with pytest.raises(UsageError, match="even number"):
            prepare(LeagueOptions("soccer_2v2", SCRIPTS, tmp_path, matches=matches))
    with pytest.raises(UsageError, match="needs a trained player"):
        prepare(LeagueOptions("soccer_2v2", SCRIPTS, tmp_path, attack=AttackOptions(1000, rounds=1)))
    with pytest.raises(UsageError, match="no player of this league"):
        prepare(LeagueOptions("soccer_2v2", SCRIPTS, tmp_path, attack=AttackOptions(1000, ("swap_4",))))
    prepare(LeagueOptions("soccer_2v2", SCRIPTS, tmp_path / "out"))
    with pytest.raises(UserError, match="has a league already"):
        prepare(LeagueOptions("soccer_2v2", SCRIPTS, tmp_path / "out"))


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_league_has_equal_figures_on_any_number_of_workers_and_a_page(game: str, tmp_path: Path):
    players = ("soccer_2v2", *SCRIPTS)
    found = {}
    for workers in (1, 2, 4):
        out = tmp_path / f"workers_{workers}"
        options = LeagueOptions(game, players, out, matches=8, films=0, progress=False)
        found[workers] = {**run_league(options, Cluster("local", workers)), "league": ""}
    assert found[1] == found[2] == found[4]
    out, report = tmp_path / "workers_2", tmp_path / "figures.json"
    kept = {file: file.read_bytes() for file in out.glob("matches/*.json")}
    assert len(kept) == 3
    first = next(iter(kept))
    first.unlink()  # a league that was killed before its last pair
    words = ["league", game, *players, "--matches", "8", "--films", "1", "--out", str(out), "--quiet", "--resume"]
    assert cli.main([*words, "--json", str(report)]) == 0
    assert first.read_bytes() == kept[first]
    figures = json.loads(report.read_text())
    assert figures["pairs"] == found[1]["pairs"] and figures["players"] == found[1]["players"]
    assert (out / "films" / figures["telling"][0]["film"]).stat().st_size < 2_000_000
    page = (out / "league.html").read_text()
    assert "Payoff matrix" in page and "data:image/gif" in page


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_an_attacker_learns_against_one_player_only_and_its_score_is_published(game: str, tmp_path: Path):
    options = LeagueOptions(
        game, ("soccer_2v2", "keeper"), tmp_path / "out", matches=4, films=0, progress=False,
        attack=AttackOptions(40_000, ("soccer_2v2", "keeper")),
    )  # fmt: skip
    rows = run_league(options, Cluster("local", 1))["best_response"]
    assert {row["player"]: row["began_as"] for row in rows} == dict.fromkeys(("soccer_2v2", "keeper"), "soccer_2v2")
    for row in rows:
        low, high = row["score_ci95"]
        assert row["steps"] == 40_000 and low - 1e-9 <= row["score"] <= high + 1e-9
        assert row["exploitability"] == max(0.0, row["score"] - 0.5)
        assert (Path(row["attacker"]) / "checkpoint.npz").is_file()
    again = run_league(LeagueOptions(**{**vars(options), "resume": True}), Cluster("local", 1))
    assert again["best_response"] == rows


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_teams_that_learned_against_the_mixture_join_the_players_and_a_league_goes_on_where_it_was(
    game: str, tmp_path: Path
):
    players = ("soccer_2v2", *SCRIPTS)
    options = LeagueOptions(
        game, players, tmp_path / "out", matches=4, films=0, progress=False, attack=AttackOptions(40_000, rounds=2)
    )
    figures = run_league(options, Cluster("local", 1))
    joined = [row["player"] for played in figures["psro"] for row in played["responses"]]
    assert {row["player"] for row in figures["players"]} == {*players, *joined} and len(joined) == 2
    assert joined[0] not in figures["psro"][0]["mixture"] and joined[0] in figures["psro"][1]["mixture"]
    assert len(figures["pairs"]) == 10, "each of five against each"
    recipe = json.loads((Path(joined[0]) / "config.json").read_text())
    play = json.dumps(recipe)
    assert all(name in play for name, share in figures["psro"][0]["mixture"].items() if share > 1 / 8)
    again = run_league(LeagueOptions(**{**vars(options), "resume": True}), Cluster("local", 2))
    assert again == figures
