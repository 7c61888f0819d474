"""Matches: scenarios, possession, the two court frames, serves, both engines, and the script's rallies."""

from pathlib import Path

import jax
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.geometry import rotate
from robomarl.domains.volleyball.lab.controllers.match import MatchLaw
from robomarl.domains.volleyball.lab.match.evaluation import RallyScore, figures
from robomarl.domains.volleyball.lab.match.model import MATCH_MODEL, observation, reward_terms, weights
from robomarl.domains.volleyball.lab.match.players import make_players
from robomarl.domains.volleyball.lab.match.rules import FAULTS
from robomarl.domains.volleyball.lab.match.scenario import MatchScenario
from robomarl.domains.volleyball.lab.match.sim import compiled, make_matches
from robomarl.domains.volleyball.lab.match.world import as_marks, both_views, judge, possession_of
from robomarl.lab.evaluate.episodes import EpisodeRunner
from robomarl.lab.league.two_sides import BothSides
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.scenario import load_scenario

NAMES = ("volley_1v1", "volley_3v3", "volley_6v6")


def loaded(name: str = "volley_3v3") -> MatchScenario:
    return load_scenario(name, MatchScenario)


def written(folder: Path, text: str, base: str = "volley_3v3") -> str:
    file = folder / "own.toml"
    file.write_text(f'extends = "{base}"\n{text}')
    return str(file)


def with_ball(world: TeamWorld, place: tuple[float, ...], speed: tuple[float, ...] = (0, 0, 0)) -> TeamWorld:
    lead = world.own.ball_pos_m.shape
    both = (np.broadcast_to(np.array(value, np.float32), lead) for value in (place, speed))
    return world._replace(own=world.own._replace(**dict(zip(("ball_pos_m", "ball_vel_m_s"), both, strict=True))))


def hit_by(scenario: MatchScenario, world: TeamWorld, robot: int) -> TeamWorld:
    """The world after a robot has hit the ball upwards, in the middle of its racket."""
    place = world.pos_m[:, robot] + [0, 0, 0.155]
    before = with_ball(world, tuple(place[0]), (0, 0, -5))
    after = judge(scenario, before, with_ball(before, tuple(place[0]), (0, 0, 5)), np.zeros((len(place), 6), bool))
    for _ in range(5):
        after = judge(scenario, after, with_ball(after, (*place[0, :2], 4.0)), np.zeros((len(place), 6), bool))
    return after


@pytest.mark.parametrize(("name", "size"), [("volley_1v1", 37 + 1), ("volley_3v3", 57 + 3), ("volley_6v6", 78 + 6)])
def test_observations_have_the_published_elements_and_the_flags_of_mates(name: str, size: int):
    assert observation(loaded(name)).size == size


@pytest.mark.parametrize("name", NAMES)
def test_each_reward_has_a_weight_and_a_value_for_each_robot(name: str):
    scenario = loaded(name)
    world = make_matches(scenario, "fast", 3, 0).reset()
    after = MATCH_MODEL.advance(
        scenario, world, np.zeros((3, scenario.robots, 4), np.float32), np.zeros((3, scenario.robots, 14))
    )
    terms = reward_terms(scenario, world, after)
    assert set(terms) == set(weights(scenario))
    assert all(np.shape(term) == (3, scenario.robots) and np.isfinite(term).all() for term in terms.values())
    assert not MATCH_MODEL.ended(scenario, after).any()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[opponent]\ncount = 2\n", "opponent.count = 2 robots play against count = 3"),
        ("count = 2\n[opponent]\ncount = 2\n", "count = 2 robots in a team; a match has 1, 3, 6"),
        (
            "[court]\nlength_m = 8.0\nwidth_m = 6.0\nnet_m = 2.43\n",
            r"court of 8 x 6 m .* \(6, 0\).*length_m at least 12",
        ),
        ('[opponent]\ncount = 3\nscript = "wall"\n', "opponent.script = 'wall' is no script"),
        ('command = "rotor_thrusts"\n', "command = 'rotor_thrusts' is of tasks without opponents"),
    ],
)
def test_mistakes_are_refused_with_the_numbers(tmp_path: Path, text: str, words: str):
    with pytest.raises(UserError, match=words) as caught:
        load_scenario(written(tmp_path, text))
    assert "own.toml" in str(caught.value)


def test_only_the_server_may_hit_first_and_both_sides_serve():
    scenario = loaded()
    world = make_matches(scenario, "fast", 4, 0).reset()
    may = possession_of(world.own.rally.marks).may_not < 0.5
    expected = np.zeros((4, 2, 3), bool)
    expected[0::2, 0, 2] = expected[1::2, 1, 2] = True
    np.testing.assert_array_equal(may, expected)
    np.testing.assert_array_equal(np.sign(world.own.ball_pos_m[:, 0]), [1, -1, 1, -1])


def test_a_robot_hits_once_until_the_ball_has_been_on_the_other_side():
    scenario = loaded()
    world = make_matches(scenario, "fast", 1, 0).reset()
    served = hit_by(scenario, world, 2)
    assert served.own.rally.hits == 1 and not served.own.rally.is_over
    over = judge(scenario, served, with_ball(served, (-1, 0, 4.0)), np.zeros((1, 6), bool))
    may = possession_of(over.own.rally.marks).may_not < 0.5
    np.testing.assert_array_equal(may[0], [[False] * 3, [True] * 3])
    received = hit_by(scenario, over, 4)
    assert received.own.rally.hits == 2 and possession_of(received.own.rally.marks).last_side == 1
    again = hit_by(scenario, received, 4)
    found = possession_of(again.own.rally.marks).found[0]
    assert again.own.rally.is_over and found[1, FAULTS.index("wrong_turn")] == 1 and again.own.rally.score == 1
    back = judge(scenario, received, with_ball(received, (1, 0, 4.0)), np.zeros((1, 6), bool))
    assert hit_by(scenario, back, 2).own.rally.hits == 3, "the server may hit again"


def test_nothing_counts_after_the_rally():
    scenario = loaded()
    world = make_matches(scenario, "fast", 1, 0).reset()
    landed = judge(scenario, world, with_ball(world, (2, 0, 0.1)), np.zeros((1, 6), bool))
    assert landed.own.rally.is_over and landed.own.rally.score == 0 and landed.own.rally.gained == -0.5
    later = judge(scenario, landed, with_ball(landed, (-2, 0, 0.1)), np.zeros((1, 6), bool))
    assert later.own.rally.score == 0 and later.own.rally.gained == 0
    np.testing.assert_array_equal(later.own.rally.marks, landed.own.rally.marks)


def test_the_record_is_kept_in_marks_without_loss():
    marks = np.random.default_rng(0).random((5, 6 + 1 + 2 * len(FAULTS))).astype(np.float32)
    np.testing.assert_array_equal(as_marks(possession_of(marks)), marks)


def test_both_teams_see_the_same_match_from_their_own_sides():
    """A world that is turned by half a turn, with its teams exchanged, gives each team the other one's views."""
    scenario = loaded()
    world = make_matches(scenario, "fast", 2, 3).reset()
    sim = make_matches(scenario, "fast", 2, 3)
    sim.reset()
    random = np.random.default_rng(1)
    for _ in range(10):
        world = sim.step(random.uniform(-3, 3, (2, 6, 4)))
    world = world._replace(own=world.own._replace(ball_vel_m_s=random.normal(0, 1, (2, 3)).astype(np.float32)))
    ours, theirs = (
        np.asarray(observation(scenario).observe((), both_views(scenario, world))[1])[:, s] for s in halves()
    )
    np.testing.assert_allclose(ours[..., 0:3], world.pos_m[:, :3], rtol=1e-6)
    np.testing.assert_allclose(theirs[..., 0:3], world.pos_m[:, 3:] * [-1, -1, 1], rtol=1e-6)
    up = rotate(world.quat_wxyz, np.array([0, 0, 1.0]))
    names = observation(scenario).element_names()
    at = names.index("body_up.x")
    np.testing.assert_allclose(theirs[..., at : at + 3], (up * [-1, -1, 1])[:, 3:], atol=1e-5)
    at = names.index("players_3.theirs1.dx")
    np.testing.assert_allclose(ours[:, 0, at : at + 3], world.pos_m[:, 4] - world.pos_m[:, 0], atol=1e-5)
    at = names.index("players_3.ours2.dx")
    np.testing.assert_allclose(theirs[:, 1, at : at + 2], -(sent(world, 5) - world.pos_m[:, 4])[:, :2], atol=1e-5)


def halves() -> tuple[slice, slice]:
    return slice(0, 3), slice(3, 6)


def sent(world: TeamWorld, robot: int) -> np.ndarray:
    """The place of a robot as its mates received it, one decision late."""
    return world.said.pos_m[:, robot]


def test_equal_teams_play_a_rally_that_is_symmetric():
    """With the serve on the other side, the same script does the same on the other half."""
    scenario = loaded()
    sim, law = make_matches(scenario, "fast", 2, 0), MatchLaw(scenario)
    world = sim.reset()
    quat = world.quat_wxyz * 0 + np.array([1, 0, 0, 0], np.float32)
    quat[:, 3:] = np.array([0, 0, 0, 1])
    own = world.own._replace(restitution=world.own.restitution * 0 + np.float32(0.785))
    sim.set_world(world._replace(quat_wxyz=quat, own=own))
    sim._draw = lambda *shape: np.full(shape, 0.5, np.float32)  # no scatter
    for _ in range(100):
        world = sim.step(law.act(law.observation.observe((), sim.views())[1]))
    np.testing.assert_allclose(world.pos_m[0, :3], world.pos_m[1, 3:] * [-1, -1, 1], atol=2e-3)
    np.testing.assert_allclose(world.own.ball_pos_m[0], world.own.ball_pos_m[1] * [-1, -1, 1], atol=2e-3)


def test_compiled_matches_are_those_of_numpy():
    scenario = loaded()
    sims = make_matches(scenario, "fast", 2, 5), compiled(scenario)(2, 5)
    law, worlds = MatchLaw(scenario), []
    for sim in sims:
        sim.reset()
        for _ in range(60):
            sim.step(law.act(law.observation.observe((), sim.views())[1]))
        worlds.append(sim.world)
    for one, other in zip(*map(jax.tree.leaves, worlds), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-3)
    assert (worlds[0].own.rally.hits >= 1).all()


def played(name: str, sim: str, rallies: int, ours: str, theirs: str) -> dict:
    scenario = loaded(name)
    runner = EpisodeRunner(
        BothSides(scenario, *make_players(ours, theirs, scenario, "full")),
        make_matches(scenario, sim, rallies, 0),
        RallyScore(scenario),
    )
    return figures(scenario, runner.run(rallies, "", False))


@pytest.mark.parametrize("sim", ["fast", "mujoco"])
def test_the_script_plays_itself_for_ten_seconds(sim: str):
    found = played("volley_3v3", sim, 4, "script", "script")
    assert found["hits_median"] >= 8 and found["collisions"] == 0
    assert found["min_mates_m"] > 0.8


def test_the_script_of_six_serves_and_plays_itself_for_ten_seconds():
    found = played("volley_6v6", "fast", 2, "script", "script")
    assert found["draws"] == 2 and found["hits_median"] >= 8 and found["min_mates_m"] > 0.8


def test_eval_against_asks_the_domain_of_the_scenario_or_of_the_script():
    from robomarl.front.cli.eval import Args, simulation_for_options
    from robomarl.lab.simulation import simulation_named

    matches = simulation_named("volleyball_match")
    assert simulation_for_options(Args(("baseline",), scenario="volley_3v3", against="script")) is matches
    assert simulation_for_options(Args(("script",), against="script")) is matches
    assert simulation_for_options(Args(("volley_3v3",), against="script")) is matches
    assert simulation_for_options(Args(("chaser",), against="keeper")) is simulation_named("soccer")
