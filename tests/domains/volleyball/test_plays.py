"""The high level of a team: without weights it is the script, weights choose skills, and searches with other teams."""

from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.volleyball.lab.controllers.match import MatchLaw
from robomarl.domains.volleyball.lab.controllers.plays import ATTACK, DECISIONS, HIGH, RECEIVE, SERVE, SET, PlayLaw
from robomarl.domains.volleyball.lab.controllers.strike import CourtSeen, seen_of
from robomarl.domains.volleyball.lab.match.scenario import MatchScenario
from robomarl.domains.volleyball.lab.match.sim import make_matches
from robomarl.fleet.checks.isolated_check import verify_bundle
from robomarl.lab.export import export_bundle
from robomarl.lab.league.players import player_named
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.law import memory_of
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.sim.model.scenario import TeamScenario
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import training_env
from robomarl.lab.train.config import SearchConfig, load_recipe
from robomarl.lab.train.policy_search.search import (
    SearchOptions,
    check_start,
    drawn,
    keep_gains,
    rivals_of,
    search_run,
    seen_by,
    steps_of,
)
from robomarl.lab.train.policy_search.structured import gained_law
from robomarl.lab.train.run.bundle_as_run import run_of


def loaded(name: str = "volley_3v3") -> MatchScenario:
    return load_scenario(name, MatchScenario)


def observed(law: MatchLaw, steps: int = 40) -> np.ndarray:
    """[E, M, O] observations of the law after some decisions of its own."""
    sim = make_matches(loaded(), "fast", 2, 0)
    sim.reset()
    for _ in range(steps):
        sim.step(law.act(law.observation.observe((), sim.views())[1]))
    return law.observation.observe((), sim.views())[1]


def sight(law: PlayLaw) -> CourtSeen:
    """What the law sees after some decisions of its own, with what it decides then."""
    seen = seen_of(observed(law))
    return law.with_decisions(seen, law.decisions(seen))


def test_without_weights_the_team_plays_as_the_script():
    play, script = PlayLaw(loaded()), MatchLaw(loaded())
    for steps in (10, 40, 90):
        obs = observed(play, steps)
        np.testing.assert_allclose(play.act(obs), script.act(obs[..., : script.observation.size]), atol=1e-5)


def test_the_high_level_chooses_skills_by_the_sign_of_a_score():
    law = PlayLaw(loaded())
    kinds = law.skill(sight(law))
    assert set(np.unique(kinds)) <= {SERVE, RECEIVE, SET, ATTACK}
    assert (kinds[:, 0] == SET).all() and (kinds[:, 1] == ATTACK).all(), "robot 0 sets and robot 1 attacks"
    dumps = law.with_gains(law.first()._replace(dump=1.0))
    assert (dumps.skill(sight(dumps))[:, 0] == ATTACK).all()


def test_an_attack_goes_to_the_other_side_or_short():
    law = PlayLaw(loaded())
    seen = seen_of(observed(law))
    plain = law.with_gains(law.first()._replace(aside_m=2.0))
    other = law.with_gains(law.first()._replace(aside_m=2.0, other=1.0, short=1.0))
    found = [play.with_decisions(seen, play.decisions(seen)) for play in (plain, other)]
    x, y = plain.target(found[0], plain.meeting(found[0]))
    near, across = other.target(found[1], other.meeting(found[1]))
    assert (y[:, 1] == 2.0).all() and (across[:, 1] == -2.0).all()
    assert (near[:, 1] == -1.5).all() and (x[:, 1] < near[:, 1]).all()


def test_the_opponents_places_are_those_of_the_other_half():
    law = PlayLaw(loaded())
    x, _ = law.opponent(sight(law), 0)
    assert (x < 0).all(), "both teams see their opponents beyond the net"


@pytest.mark.parametrize(("weight", "place"), [(1.0, 1.0), (-1.0, -1.0), (0.2, 0.0)])
def test_the_receivers_post_is_left_middle_or_right(weight: float, place: float):
    law = PlayLaw(loaded())
    chosen = law.with_gains(law.first()._replace(go=weight))
    aside = chosen.wait_y(sight(chosen))
    np.testing.assert_array_equal(aside, place + 0 * aside)


def flown(law: PlayLaw, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """[T, E, M, D] decisions of a match with itself, and [T, E] bool: the referee saw a hit or the ball cross the
    net in the period before."""
    sim, rows, events = make_matches(loaded(), "fast", 4, 0), [], []
    sim.reset()
    (memory,) = memory_of(law, sim.world.closest_m.shape)
    turn = sim.world.own.rally.turn
    for _ in range(steps):
        obs = law.observation.observe((), sim.views())[1]
        rally = sim.world.own.rally
        events.append(rally.hit.any(-1) | (rally.turn != turn))
        turn = rally.turn
        memory, command = law.decide(memory, obs)
        rows.append(memory[..., -DECISIONS:])
        sim.step(command)
    return np.stack(rows), np.stack(events)


def torn(hold: float) -> PlayLaw:
    """A team whose decisions change with the ball's place from one period to the next."""
    law = PlayLaw(loaded())
    return law.with_gains(law.first()._replace(hold=hold, other_ball=1.0, short_ball=-1.0, go_ball=3.0))


def test_decisions_change_at_events_alone_and_else_in_each_period():
    held, events = flown(torn(hold=1.0), 150)
    changes = (held[1:] != held[:-1]).any((-1, -2))
    assert changes.any() and events.sum() >= 8
    assert not (changes & ~events[1:]).any(), "no decision changes without a hit or a crossing"
    free, _ = flown(torn(hold=0.0), 150)
    assert (free[1:] != free[:-1]).any((-1, -2)).sum() > changes.sum()


def test_a_team_with_memory_decides_alike_in_jax_and_numpy():
    law = torn(hold=1.0)
    memory = theirs = memory_of(law, (2, 6))[0]
    decide = jax.jit(law.decide)
    for steps in (10, 40, 41, 90):
        obs = observed(law, steps)
        memory, mine = law.decide(memory, obs)
        theirs, other = decide(theirs, obs)
        np.testing.assert_allclose(memory, theirs, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(mine, other, rtol=2e-3, atol=2e-3)


def test_without_hold_a_team_with_memory_plays_as_one_without():
    law = torn(hold=0.0)
    obs = observed(law, 60)
    np.testing.assert_array_equal(law.decide(memory_of(law, (2, 6))[0], obs)[1], law.act(obs))


@pytest.mark.slow
def test_a_team_that_holds_its_decisions_is_exported_with_its_memory(tmp_path: Path):
    """The export compares ONNX with JAX over whole sequences, with the memory passed on, and refuses a difference."""
    config = replace(load_recipe("volley_3v3")[0], filter="off")
    keep_gains(config, loaded(), torn(hold=1.0).gains, SearchOptions(tmp_path / "one"))
    bundle = export_bundle(run_of(str(tmp_path / "one")), tmp_path / "bundle", "torn")
    assert [carry.shape for carry in bundle.contract.policy_carries] == [(PlayLaw.memory_size,)]
    assert not verify_bundle(bundle.folder).problems, "the runtime decides the golden sequences alike"


def test_a_search_may_move_the_high_level_alone_or_everything():
    law = PlayLaw(loaded())
    named = dict.fromkeys(HIGH, 0.5)
    alone = steps_of(law, SearchConfig(steps=named, steps_alone=True))
    both = steps_of(law, SearchConfig(steps=named))
    assert {name for name, step in alone._asdict().items() if step} == set(HIGH)
    assert np.count_nonzero(both) == np.count_nonzero(law.search_step) + len(HIGH)
    with pytest.raises(UserError, match="search.steps of the recipe: wings is no gain"):
        steps_of(law, SearchConfig(steps={"wings": 1.0}))


def test_a_gain_that_starts_outside_of_its_search_is_named():
    with pytest.raises(UserError, match="set_m starts at 4.59 steps, and is searched from 1.5 to 4 steps"):
        check_start(np.array(["home", "set_m"]), np.array([1.0, 4.59]), np.array([0.5, 1.5]))


def test_the_other_team_of_a_search_is_drawn_from_the_named_runs(tmp_path: Path):
    config = replace(load_recipe("volley_3v3")[0], filter="off")
    scenario = replace(loaded(), time_limit_s=0.1)
    law = gained_law(scenario)
    keep_gains(config, scenario, law.search_from._replace(beyond_m=1.25), SearchOptions(tmp_path / "one"))
    env = training_env(config, scenario)
    worth = SearchConfig(teams=("first", str(tmp_path / "one")))
    rivals = rivals_of(env, law, worth)
    assert rivals is not None
    found = [drawn(law, rivals, key) for key in jax.random.split(jax.random.key(0), 12)]
    seen = {(float(team.gains.beyond_m), bool(filtered)) for team, filtered in found}
    script = np.float32(law.search_from.beyond_m)
    assert seen == {(np.float32(1.25), True), (script, False)}, "the script has no filter, as in `eval`"


def test_a_searched_team_plays_in_a_league(tmp_path: Path):
    config = replace(load_recipe("volley_3v3")[0], filter="off")
    scenario = replace(loaded(), time_limit_s=0.1)
    keep_gains(config, scenario, gained_law(scenario).search_from, SearchOptions(tmp_path / "one"))
    player = player_named(str(tmp_path / "one"), loaded(), "off")
    assert (player.kind, len(player.identity)) == ("run", 64)


@pytest.mark.slow
def test_robots_without_the_filter_send_what_they_decide():
    """Both robots are told to fly into the net; the one behind the filter is held back."""
    env = make_env(loaded("volley_1v1"), weights=None, safety="qp")
    state = jax.jit(env.reset)(jax.random.key(0))
    ask = np.tile(np.array([-9.0, 0.0, 0.0, 0.0], np.float32), (2, 1))
    free = np.array([False, True])
    draws = np.full((2, env.num_draws), 0.5, np.float32)
    fast = state.pipeline_state._replace(world=coming_fast(state.pipeline_state.world))  # type: ignore[union-attr]
    held = np.asarray(jax.jit(env.decide)(fast, ask, draws)[1])
    mixed = np.asarray(jax.jit(env.without_filter(jax.numpy.asarray(free)).decide)(fast, ask, draws)[1])
    np.testing.assert_allclose(mixed[0], held[0])
    np.testing.assert_array_equal(mixed[1], ask[1])
    assert (np.abs(held - ask).max(-1) > 1).all(), "the filter keeps both robots from the net"


def coming_fast(world: TeamWorld) -> TeamWorld:
    """Both robots fly to the net with 4 m/s."""
    speed = np.array([[-4.0, 0, 0], [4.0, 0, 0]], np.float32)
    return world._replace(vel_m_s=speed)


def asked(folder: Path, text: str, name: str = "volley_1v1") -> str:
    """The sentence that a recipe's `[search]` is refused with."""
    file = folder / "own.toml"
    head = f'version = 2\nscenario = "{name}"\nseed = 0\nalgorithm = "search"\nnum_envs = 32\n[search]\n'
    file.write_text(head + text)
    with pytest.raises(UserError) as caught:
        search_run(load_recipe(str(file))[0], loaded_any(name), SearchOptions(folder / "run", recipe=str(file)))
    assert not (folder / "run").exists(), "nothing was begun"
    assert "own.toml: " in str(caught.value)
    return str(caught.value)


def loaded_any(name: str) -> TeamScenario:
    return load_scenario(name, TeamScenario)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("steps_alone = true\n", "search: steps_alone = true searches the gains of steps alone, which names none"),
        ("steps_alone = true\nsteps = { apex_m = 0.0 }\n", "which names none with a step above 0; name one"),
        ("steps = { apex_m = -0.5 }\n", "search: steps has apex_m = -0.5, and a step is no less than 0"),
    ],
)
def test_steps_that_search_nothing_are_refused(tmp_path: Path, text: str, words: str):
    assert words in asked(tmp_path, text)


def test_a_law_without_a_step_above_zero_is_refused(tmp_path: Path):
    law = gained_law(loaded_any("volley_bump"))
    every = ", ".join(f"{name} = 0.0" for name in law.gains._fields)
    words = "search.steps of the recipe: each gain has a step of 0, so none is searched; give "
    assert words in asked(tmp_path, f"steps = {{ {every} }}\n", "volley_bump")


def test_teams_of_a_task_without_opponents_are_refused(tmp_path: Path):
    words = "search.teams of the recipe: task = 'volley_bump' has no opponents; leave teams out"
    assert words in asked(tmp_path, 'teams = ["first"]\n', "volley_bump")


def test_teams_of_another_task_are_refused(tmp_path: Path):
    other = loaded_any("volley_bump")
    config = load_recipe("volley_bump")[0]
    short = replace(other, time_limit_s=0.1)
    keep_gains(config, short, gained_law(short).search_from, SearchOptions(tmp_path / "bump"))
    found = asked(tmp_path, f'teams = ["{tmp_path / "bump"}"]\n')
    assert "bump is a run of task = 'volley_bump', not of 'volley_1v1'; name a run of this task." in found


def test_the_range_of_observations_ends_with_the_episode():
    """The law lets the ball fall; after the rally drones and ball go on to anywhere."""
    scenario = replace(loaded("volley_1v1"), time_limit_s=8.0)
    law = gained_law(scenario)
    stats = seen_by(scenario, law.with_gains(law.search_from._replace(beyond_m=30.0)), seed=0, episodes=4)
    place = make_env(scenario).observation.element_names().index("drone_position.x")
    assert np.abs([stats.low[place], stats.high[place]]).max() < 12, "a court and a half"
