"""The campaign that looks for trouble: its plant against hand-computed figures, its bounds, and that it can fail."""

import ast
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import to_dict
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.front.cli import main
from robomarl.lab.prove.ledger import Ledger
from robomarl.lab.prove.worst.attack import COLUMNS, HIGH, LOW, SEARCHED, Attack, read_attack
from robomarl.lab.prove.worst.directed import GEOMETRIES, PAIRS, Length, pair_attack
from robomarl.lab.prove.worst.errors import SETS
from robomarl.lab.prove.worst.flight import Flight, fly
from robomarl.lab.prove.worst.jobs import Hunt, Job, filter_of, fly_again, run_job, words_of
from robomarl.lab.prove.worst.plant import Actuators, Parabola, Piece, Robots, norm, pieces
from robomarl.lab.prove.worst.search import Best, repaired, search
from robomarl.lab.prove.worst.teams import TEAMS, team_attack
from robomarl.lab.prove.worst.words import Words, declared, scaled
from robomarl.lab.prove.worst.worst import hunt_down, structured

PERIOD_S = 0.02
KINDS = ("crazyflie_21", "ssl_omni", "turtlebot3_burger")
MODEL = (
    "robomarl.core.filter.model",
    "robomarl.core.filter.decision",
    "robomarl.core.filter.kernel",
    "robomarl.lab.prove.campaign",
)
FIELDS = (
    "robustness_factor first_contact_at first_outside_at episodes_at_bounds team_episodes wall_episodes contacts below "
    "min_distance_m min_scaled_m outside_m kept_m contact_m robots scales seed filter vehicle"
).split()


def words(vehicle: str = "crazyflie_21", **changes) -> Words:
    return dataclasses.replace(declared(load_any_vehicle(vehicle), PERIOD_S), **changes)


def hunt(vehicle: str = "crazyflie_21", **changes) -> Hunt:
    return Hunt(load_any_vehicle(vehicle), PERIOD_S, **changes)


def attack_of(name: str, about: Words, episodes: int, seed: int = 0) -> tuple[Attack, float]:
    random = np.random.default_rng(seed)
    length = Length.draw(random, about)
    return pair_attack(name, random, about, episodes, length), length.seconds(about)


def test_it_does_not_import_the_model_that_it_tests(root: Path):
    for path in sorted((root / "robomarl/lab/prove/worst").glob("*.py")):
        named = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            if isinstance(node, ast.ImportFrom):
                assert not node.level, path
                named |= {str(node.module)} | {f"{node.module}.{alias.name}" for alias in node.names}
        assert not [name for name in named if f"{name}.".startswith(tuple(f"{model}." for model in MODEL))], path


def test_it_stops_where_it_has_to_under_a_known_delay_and_bias():
    """1 m/s, pushed on by 0.5 m/s^2, braking with 2 m/s^2 that come 0.16 s late: 0.1664 m, then 1.08^2 / 3."""
    about = words(bias_m_s2=(0.5, 0.5, 0.5), late_s=0.16, early_s=0.08)
    for late, way_m in ((1.0, 0.1664 + 1.08**2 / 3), (0.0, 0.08 + 0.0016 + 1.04**2 / 3)):
        robots, actuators = Robots(about, np.zeros((1, 1, 3)), np.zeros((1, 1))), Actuators(about, (1, 1))
        robots.vel = np.array([[[1.0, 0, 0]]])
        (piece,) = actuators.pieces
        reached = 0.0
        for _ in range(50):
            actuators.send(np.array([[[-2.0, 0, 0]]]))
            accel = actuators.in_force(piece, np.full((1, 1), late), np.zeros((1, 1)), np.ones((1, 1, 3)))
            _, high = robots.move(accel + [0.5, 0, 0], piece.seconds).reach
            reached = max(reached, float(high[..., 0].item()))
        assert reached == pytest.approx(way_m, abs=1e-12)


def test_commands_are_in_force_from_the_shortest_to_the_longest_delay_and_a_period():
    assert pieces(words(early_s=0.08, late_s=0.16)) == [Piece(PERIOD_S, 4, 8)]
    assert pieces(words(early_s=0.0, late_s=0.0)) == [Piece(PERIOD_S, 0, 0)]
    split = pieces(words(early_s=0.08, late_s=0.176))
    assert [(p.newest, p.oldest) for p in split] == [(4, 9), (4, 8)]
    assert [p.seconds for p in split] == pytest.approx([0.016, 0.004])
    for early, late in ((0.013, 0.031), (0.08, 0.2), (0.005, 0.011)):
        begin = 0.0
        for piece in pieces(words(early_s=early, late_s=late)):
            assert piece.newest * PERIOD_S + begin >= early - 1e-9
            assert piece.oldest * PERIOD_S + begin + piece.seconds <= PERIOD_S + late + 1e-9
            begin += piece.seconds
        assert begin == pytest.approx(PERIOD_S)


def test_jitter_picks_the_worst_of_the_commands_that_may_be_in_force():
    about = words(early_s=0.04, late_s=0.08)
    actuators = Actuators(about, (1, 2))
    for size in (0.0, 5.0, -3.0, 2.0, 1.0, 9.0, 9.0):  # oldest first; ages 6 to 0
        actuators.send(np.array([[[size, 0, 0], [size, 0, 0]]]))
    toward, (piece,) = np.array([[[1.0, 0, 0], [1.0, 0, 0]]]), actuators.pieces
    assert (piece.newest, piece.oldest) == (2, 4)
    force = actuators.in_force(piece, np.array([[0.0, 1.0]]), np.zeros((1, 2)), toward)
    assert force[0, :, 0].tolist() == [1.0, -3.0]
    force = actuators.in_force(piece, np.zeros((1, 2)), np.array([[1.0, -1.0]]), toward)
    assert force[0, :, 0].tolist() == [2.0, -3.0]


def test_the_closest_approach_is_that_of_the_parabolas(random: np.random.Generator):
    # At t = 0.01 both are 0.05 apart, by hand: x = 0.02 - 2 t, y = 0.05, and no acceleration.
    line = Parabola(np.array([[[0.02, 0.05, 0.0]]]), np.array([[[-2.0, 0, 0]]]), np.zeros((1, 1, 3)), PERIOD_S)
    assert line.least.item() == pytest.approx(0.05, abs=1e-12)
    # There and back: y = 0.002 - 0.12 t + 12 t^2 / 2 turns at t = 0.01, at 0.0014.
    turn = Parabola(np.array([[[0.0, 0.002, 0.0]]]), np.array([[[0, -0.12, 0]]]), np.array([[[0, 12.0, 0]]]), PERIOD_S)
    assert turn.least.item() == pytest.approx(0.0014, abs=1e-9)
    low, _ = turn.reach
    assert low[0, 0, 1] == pytest.approx(0.0014, abs=1e-12)
    parts = [random.normal(size=(500, 1, 3)) * size for size in (0.03, 2.0, 6.0)]
    way = Parabola(parts[0], parts[1], parts[2], PERIOD_S)
    times = np.linspace(0, PERIOD_S, 4001)[:, None, None, None]
    dense = norm(way.start + way.vel * times + way.accel * times**2 / 2).min(0)
    assert np.abs(way.least - dense).max() < 2e-5
    assert (way.least <= dense + 1e-6).all()


def test_a_differential_drive_trails_its_point():
    about = words("turtlebot3_burger")
    robots = Robots(about, np.zeros((1, 1, 3)), np.zeros((1, 1)))
    for k in range(400):
        before = robots.centre
        robots.move(np.array([[[0.2 * np.cos(k / 60), 0.2 * np.sin(k / 60), 0]]]), PERIOD_S)
        assert norm(robots.pos - robots.centre).item() == pytest.approx(0.10, abs=1e-12)
        slip = ((robots.centre - before) * robots.across).sum()
        assert abs(slip) < 0.04 * norm(robots.centre - before).item() + 1e-9  # along the heading, but for its turn


@pytest.mark.parametrize("vehicle", KINDS)
def test_every_attack_starts_apart_and_stays_within_the_bounds(vehicle: str, random: np.random.Generator):
    about = words(vehicle)
    safety = filter_of(hunt(vehicle), about, 2)
    for name in PAIRS:
        attack, _ = attack_of(name, about, 12)
        start = attack.vector("start", "_m")
        assert (norm((start[:, 0] - start[:, 1]) * about.squash) > about.vehicle.safety.separation_m + 0.39).all(), name
        flight, ages = Flight(about, safety, attack), np.zeros((12, 2, 1))
        for _ in range(60):
            aim = flight.steering.aim(flight.robots, flight.actuators.newest)
            for channel, bound in (("pos", about.position_error_m), ("vel", about.velocity_error_m_s)):
                error = flight.steering.error(channel, bound, aim, flight.time_s)
                assert (norm(error) <= bound + 1e-12).all(), name
                assert not about.planar or not error[..., 2].any()
            flight.step()
            assert (flight.radio._age <= ages + 1).all() or not ages.any(), name
            ages = flight.radio._age
        assert (np.abs(flight.steering.bias) <= np.array(about.bias_m_s2) + 1e-12).all()


@pytest.mark.parametrize("name", TEAMS)
def test_teams_start_apart_and_inside(name: str, random: np.random.Generator):
    for count in (3, 5, 8):
        about = words_of(hunt(), "team", 1.0, count)
        start = team_attack(name, random, about, 30, count).vector("start", "_m")
        apart = norm((start[:, None] - start[:, :, None]) * about.squash) + 9 * np.eye(count)
        assert apart.min() > about.vehicle.safety.separation_m + 0.39
        assert about.arena is not None
        assert (np.abs(start) < np.array(about.arena.high_m) - 0.4).all()


def test_bounds_grow_with_the_scale_and_the_shortest_delay_stays():
    one, two = words(), scaled(words(), 1.5)
    assert two.gust_m_s2 == 1.5 * one.gust_m_s2
    assert (two.early_s, two.late_s) == (one.early_s, 1.5 * one.late_s)
    assert scaled(words(), 0.1).late_s == one.early_s


@pytest.mark.parametrize("mode", ["textbook", "off"])
def test_a_filter_without_margins_is_caught_at_once(mode):
    job = Job(hunt(mode=mode), 1.0, "pair", ("head_on/all", "head_on/estimate", "linger/all"), 0, 24)
    for found in run_job(job):
        assert found.contacts >= 0.2 * found.episodes, found.family


def test_a_plant_with_twice_the_declared_delay_is_caught():
    about = words()
    safety = filter_of(hunt(), about, 2)
    late = dataclasses.replace(about, late_s=2 * about.late_s)
    attack, seconds = attack_of("head_on/all", about, 256, seed=1)
    found = fly(late, safety, attack, seconds)
    assert (found.least_m < about.contact_m).any()


@pytest.mark.parametrize(("age", "starts"), [(0.5, True), (1.1, False)])
def test_a_filter_starts_anew_only_while_it_hears_its_team(age: float, starts: bool):
    """A robot that lacks an input is not READY, so nobody can activate it."""
    about, attack = words(), Attack.blank(1, 2)
    attack["start_x_m"] = np.array([-1.0, 1.0])
    attack.put(restart_s=0.6, age_a=age, age_b=age)
    flight = Flight(about, filter_of(hunt(), about, 2), attack)
    decisions = []
    for _ in range(40):
        flight.step()
        decisions.append(int(flight.carry.ok.min()))
    assert np.isfinite(flight._restarted).all() == starts
    if starts:
        assert 0 < decisions[-1] < 15, "its memory is younger than the episode"


def test_a_written_episode_is_the_same_when_it_is_flown_again():
    asked = hunt()
    for kind, family in (("pair", "offset/all"), ("wall", "everything"), ("team", "corner/all")):
        count = {"pair": 2, "wall": 1, "team": 4}[kind]
        found, again = (run_job(Job(asked, 1.1, kind, (family,), 0, 20, count))[0] for _ in range(2))  # type: ignore[arg-type]
        assert (found.least_m, found.scaled_m, found.outside_m) == (again.least_m, again.scaled_m, again.outside_m)
        worst = json.loads(json.dumps(found.worst))
        flown = fly_again(asked, worst)
        if kind == "wall":
            assert flown.outside_m[0] == pytest.approx(worst["outside_m"], abs=1e-6)
        else:
            assert flown.scaled_m[0] == pytest.approx(worst["scaled_m"], abs=1e-6)


def test_an_attack_is_written_by_name(random: np.random.Generator):
    attack = Attack(random.uniform(LOW, HIGH, (3, 2, len(COLUMNS))))
    np.testing.assert_array_equal(read_attack(attack.plain(1), 2).values[0], attack.values[1])
    assert Attack.blank(1, 2).plain(0) == {}


def test_the_search_finds_what_is_worst(random: np.random.Generator):
    """A bowl over the numbers of an attack: the search goes down it."""
    aim = repaired(words(), random.uniform(LOW, HIGH, (1, 2, len(COLUMNS))))[0]

    def bowl(attack: Attack) -> np.ndarray:
        off = ((attack.values - aim) / np.where(SEARCHED, HIGH - LOW, 1.0))[..., SEARCHED]
        return (off**2).sum((-2, -1))

    values = np.repeat(Attack.blank(1, 2).values, 4, 0)
    values = repaired(words(), values)
    before = bowl(Attack(values))
    after = search(words(), bowl, Best(values, before), 4, random)
    assert (after.clearance_m < 0.8 * before).all()
    np.testing.assert_allclose(bowl(Attack(after.values)), after.clearance_m, rtol=1e-12)


def test_every_family_is_flown_however_small_the_budget():
    jobs = structured(hunt(), 1.0, (100, 10))
    assert {name for job in jobs if job.kind == "pair" for name in job.families} == set(PAIRS)
    assert {name for job in jobs if job.kind == "wall" for name in job.families} == set(SETS)
    assert {job.count for job in jobs} == {1, 2, 3, 4, 5, 6, 7, 8}
    assert {name.split("/")[0] for name in PAIRS} == set(GEOMETRIES)


def test_figures_do_not_depend_on_processes_and_have_their_fields():
    asked = hunt(mode="off", episodes=40, team_episodes=0, scales=(1.0,))
    found = hunt_down(asked)
    assert found.keys() >= set(FIELDS)
    assert found["robustness_factor"] == found["first_contact_at"] == 1.0
    assert found["episodes_at_bounds"] >= 40
    assert found["contacts"] > 0
    assert hunt_down(asked, workers=2) == found
    (scale,) = found["scales"]
    assert scale["pair_contacts"] == found["contacts"]
    for name, row in scale["families"].items():
        failed = row["contacts"] + row["outside"] > 0
        assert failed == ("worst" in row)
        if failed and name.startswith("pair"):
            assert row["worst"]["scaled_m"] == pytest.approx(row["scaled_m"], abs=1e-9)
            assert fly_again(asked, row["worst"]).scaled_m == pytest.approx(row["scaled_m"], abs=1e-6)


def test_killed_and_resumed_a_hunt_says_what_it_would_have_said(tmp_path: Path):
    aim = hunt(episodes=31, team_episodes=0, scales=(1.0,))
    whole = hunt_down(aim)
    ledger = Ledger.open(tmp_path, to_dict(aim), False)

    def stop(episodes: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hunt_down(aim, progress=stop, ledger=ledger)
    again = Ledger.open(tmp_path, to_dict(aim), True)
    assert len(again.records) == 1
    assert hunt_down(aim, ledger=again) == whole
    assert len(again.records) > 1


def test_without_contact_the_highest_scale_is_the_factor(monkeypatch: pytest.MonkeyPatch):
    """Nothing is declared wrong, so the search goes up; all the way where nothing touches."""
    asked = hunt(episodes=1, team_episodes=0, scales=(0.001,))
    found = hunt_down(asked)
    assert found["first_contact_at"] is None
    assert found["robustness_factor"] == 0.001
    assert found["episodes_at_bounds"] == 0


def test_the_command_prints_the_factor(tmp_path: Path, capsys: pytest.CaptureFixture):
    options = ["--worst", "--episodes", "60", "--team-episodes", "0", "--filter", "textbook", "--workers", "1"]
    file = tmp_path / "worst.json"
    assert main(["prove", "ssl_omni", *options, "--scales", "1.0", "--json", str(file)]) == 1
    assert "robustness factor 1: the first contact" in capsys.readouterr().out
    assert json.loads(file.read_text())["scales"][0]["worst"]["attack"]
    assert main(["prove", "ssl_omni", "--sim", "mujoco"]) == 2
    assert main(["prove", "ssl_omni", "--worst", "--episodes", "0"]) == 2
