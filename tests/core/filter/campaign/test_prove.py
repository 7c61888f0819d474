"""`robomarl prove`: the same figures however it is run, a real kill, the page, and every kind of vehicle."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.filter.filter import SafetyFilter, from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.types import FilterResult
from robomarl.core.view import Plan
from robomarl.front.cli.prove import Args, trial_of
from robomarl.front.report.prove_report import write_prove_report
from robomarl.lab.prove.campaign import prove as module
from robomarl.lab.prove.campaign.adversary import KINDS, Adversaries, Team
from robomarl.lab.prove.campaign.conditions import Campaign, World, height_of
from robomarl.lab.prove.campaign.prove import Trial, fly, prove, run
from robomarl.lab.prove.campaign.score import Tally, closest, worst_of
from robomarl.lab.prove.ledger import LINES

PERIOD_S = 0.02
FIELDS = (
    "agent_steps active_share episodes collisions collision_episodes bound95_per_step bound95_per_episode "
    "min_distance_m goal_rate veto_rate infeasible_rate"
).split()


def trial(vehicle: str = "crazyflie_21", steps: float = 4e3, **campaign) -> Trial:
    return Trial(Campaign(**{"count": 4, "seconds": 1.0, **campaign}), load_any_vehicle(vehicle), PERIOD_S, steps)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROBOTS", 16)


def test_processes_and_interruptions_change_no_figure(tmp_path: Path, small_batches: None):
    whole, records = run(trial())
    assert len(records) == 5
    first = Trial(**{**vars(trial()), "agent_steps": 1600.0})
    for number, record in (module.fly_batch((first, i)) for i in range(2)):
        assert record == records[number]
    run(trial(), out=tmp_path)
    lines = (tmp_path / LINES).read_text().splitlines(keepends=True)
    # Three batches done, the fourth cut off in the middle of its line.
    (tmp_path / LINES).write_text("".join(lines[:3]) + lines[3][:500])
    resumed, again = run(trial(), out=tmp_path, resume=True)
    assert resumed == whole
    assert again == records


def test_another_campaign_does_not_mix_with_what_is_there(tmp_path: Path, small_batches: None):
    run(trial(steps=400), out=tmp_path)
    with pytest.raises(UserError, match="add --resume"):
        run(trial(steps=400), out=tmp_path)
    with pytest.raises(UserError, match="campaign.loss is 0.3 there and 0.5 here"):
        run(trial(steps=400, loss=0.5), out=tmp_path, resume=True)


def command(out: Path, *words: str, workers: int = 2) -> list[str]:
    options = ["--agent-steps", "6e4", "--seconds", "0.5", "--count", "4", "--workers", str(workers), "--out", str(out)]
    start = [sys.executable, "-c", "import sys; from robomarl.front.cli import main; sys.exit(main())"]
    return [*start, "prove", "crazyflie_21", *options, "--json", f"{out}.json", *words]


def test_killed_and_resumed_it_says_what_it_would_have_said(tmp_path: Path):
    """kill -9 of the whole process group in the middle; the figures are those of a campaign that nobody touched."""
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    process = subprocess.Popen(command(cut), start_new_session=True, stderr=subprocess.DEVNULL)
    lines = cut / LINES
    while process.poll() is None and not (lines.exists() and lines.stat().st_size):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = lines.read_text().count("\n")
    assert 0 < done < 3, "the campaign must be long enough to be interrupted"
    subprocess.run(command(cut, "--resume"), check=True, capture_output=True)
    subprocess.run(command(whole, workers=1), check=True, capture_output=True)
    figures = [json.loads(Path(f"{out}.json").read_text()) for out in (cut, whole)]
    assert figures[0] == figures[1]
    assert figures[0].keys() >= set(FIELDS)
    assert (cut / "report.html").stat().st_size > 20_000


@pytest.mark.parametrize(("mode", "word"), [("qp", "No contact in"), ("textbook", "Contact in")])
def test_the_page_draws_the_worst_episodes(tmp_path: Path, mode, word: str):
    flown = Trial(Campaign(seconds=2.5), load_any_vehicle("crazyflie_21"), PERIOD_S, 6e3, mode)
    figures, records = run(flown)
    worst = worst_of(records)
    file = tmp_path / "report.html"
    write_prove_report(figures, flown, records, file)
    page = file.read_text()
    assert word in page
    assert page.count("<svg") == 2 * len(worst) > 0
    for episode in worst:
        assert f"{episode.least_m:.3f}" in page
    assert worst[0].least_m == min(e.least_m for e in worst if e.touched == worst[0].touched)
    for outside_m, left in ((0.031, True), (-0.07, False), (None, False), (-np.inf, False)):
        write_prove_report({**figures, "outside_m": outside_m}, flown, records, file)
        assert ("Robots left the arena by up to" in file.read_text()) is left


def test_the_least_distance_is_that_of_all_pairs_at_all_times(random: np.random.Generator):
    """The tally looks closely at few pairs; a search over all of them finds the same."""
    params = from_vehicle(load_any_vehicle("crazyflie_21"), PERIOD_S)
    pos = random.uniform(-1, 1, (6, 5, 3))
    team = Team(pos, 0 * pos, pos)
    tally, paths = Tally(0.07, params, team), [pos]
    quiet = FilterResult(*[np.zeros((6, 5, 4))] * 2, *[np.zeros((6, 5), int)] * 5)
    for _ in range(60):
        path = paths[-1] + np.cumsum(random.normal(size=(9, 6, 5, 3)) * 0.02, 0)
        paths.append(path[-1])
        tally.add(quiet, np.concatenate([paths[-2][None], path]), team, team)
        apart = np.concatenate([paths[-2][None], path])
        apart = apart[:, :, tally.first] - apart[:, :, tally.second]
        lean = closest(apart / [1, 1, 2]).min((0, 2))
        best = lean if len(paths) == 2 else np.minimum(best, lean)  # noqa: F821
        plain = closest(apart).min() if len(paths) == 2 else min(plain, closest(apart).min())  # noqa: F821
    np.testing.assert_allclose(tally.least_scaled_m, best, atol=1e-12)
    assert tally.least_m == pytest.approx(plain)


@pytest.mark.parametrize(
    ("vehicle", "seconds", "caught_share"),
    [("ssl_omni", 6.0, 0.5), pytest.param("turtlebot3_burger", 12.0, 0.1, marks=pytest.mark.slow)],
)
def test_ground_robots_do_not_collide_and_the_textbook_filter_is_caught(vehicle, seconds, caught_share):
    kind, campaign = load_any_vehicle(vehicle), Campaign(seconds=seconds)
    found = prove(campaign, kind, PERIOD_S, 1.2e4)
    assert found["collisions"] == 0
    assert found["min_distance_m"] > kind.safety.separation_m
    assert found["max_speed_m_s"] <= 1.05 * kind.limits.speed_m_s  # who is torn between rows gives up some of it
    assert found["outside_m"] <= 0
    assert found["active_share"] > 0.5
    hard = Campaign(seconds=2 * seconds, run_ups=0.0)
    caught = prove(hard, kind, PERIOD_S, 3e4, "textbook")
    assert caught["collision_episodes"] >= caught_share * caught["episodes"]


def test_differential_drives_stay_within_what_their_wheels_can_do():
    vehicle = load_any_vehicle("turtlebot3_burger")
    flown = Trial(Campaign(seconds=8.0), vehicle, PERIOD_S, 1)
    params = from_vehicle(vehicle, PERIOD_S)
    random = np.random.default_rng(3)
    world = World(flown.campaign, params, 8, random)
    safety, carry = SafetyFilter(params), SafetyFilter(params).init(world.team.pos.shape[:2])
    adversaries = Adversaries(params, world.team.pos.shape[:2], height_of(params), random)
    for _ in range(400):
        accel = adversaries(world.points, random)
        nominal = np.concatenate([accel, np.zeros((*accel.shape[:2], 1))], -1)
        carry, result = safety(carry, world.view(), nominal)
        world.step(result.command[..., :3], carry.plan)
        assert world.drives is not None
        rim = np.abs(world.drives.speed) + np.abs(world.drives.turn) * vehicle.drive.track_m / 2  # type: ignore[union-attr]
        assert rim.max() <= vehicle.drive.wheel_speed_m_s  # type: ignore[union-attr]
        # Without side slip: the velocity is along the heading.
        heading = np.stack([np.cos(world.drives.angle), np.sin(world.drives.angle)], -1)
        np.testing.assert_allclose(world.team.vel[..., :2], heading * world.drives.speed[..., None], atol=1e-12)
    assert world.drives is not None
    assert world.drives.fastest[0] > 0.5 * params.limits.speed_m_s


@pytest.mark.parametrize("kind", KINDS)
def test_no_adversary_alone_breaks_through(kind: str):
    found = prove(Campaign(seconds=4.0, kinds=(kind,)), load_any_vehicle("crazyflie_21"), PERIOD_S, 6e3)
    assert found["collisions"] == 0
    assert found["min_scaled_m"] > 0.2


def test_a_campaign_needs_no_scenario():
    asked = trial_of(Args("ssl_omni", delay_s=0.04, adversaries=("seek",), filter="full", rate_hz=60.0))
    assert (asked.vehicle.name, asked.vehicle.safety.delay_s, asked.mode) == ("ssl_omni", 0.04, "qp")
    assert (asked.campaign.count, asked.campaign.kinds, asked.period_s) == (8, ("seek",), 1 / 60)
    assert trial_of(Args("swap_4")).campaign.count == 4
    with pytest.raises(UserError, match="'hug' is not known; allowed: seek"):
        trial_of(Args("ssl_omni", adversaries=("hug",)))


def test_flights_are_the_same_for_the_same_seed():
    flown = trial()
    safety = SafetyFilter(from_vehicle(flown.vehicle, PERIOD_S))
    one, two = (fly(flown, safety, 3, np.random.default_rng(5)).record(0) for _ in range(2))
    assert one == two


def world_of(episodes: int = 300, vehicle: str = "crazyflie_21", **campaign) -> World:
    params = from_vehicle(load_any_vehicle(vehicle), PERIOD_S)
    return World(Campaign(**{"count": 3, **campaign}), params, episodes, np.random.default_rng(1))


def fly_world(world: World, steps: int) -> dict[str, np.ndarray]:
    """What goes wrong, [steps, ...] each."""
    still, seen = np.zeros_like(world.team.pos), {name: [] for name in ("constant", "gust", "delay", "age_s")}
    for _ in range(steps):
        world.step(still, Plan(still, still, still))
        for name, values in seen.items():
            values.append(np.array(getattr(world, name)))
    return {name: np.stack(values) for name, values in seen.items()}


def test_bias_stays_and_gusts_and_delays_change_within_what_is_declared():
    world = world_of()
    seen, safety = fly_world(world, 60), world.params.safety
    assert not np.ptp(seen["constant"], 0).any()
    for axis, bound in enumerate(world.params.bias_m_s2):
        assert 0.95 * bound < np.abs(seen["constant"][..., axis]).max() <= bound
    strength = np.sqrt((seen["gust"] ** 2).sum(-1))
    assert 0.95 * safety.accel_error_m_s2 < strength.max() <= safety.accel_error_m_s2
    assert 0.02 < (np.diff(seen["gust"], axis=0) != 0).any(-1).mean() < 0.06  # every half second
    assert (seen["delay"].min(), seen["delay"].max()) == (4, 8)
    assert 0.3 < (np.ptp(seen["delay"], 0) > 0).mean() < 0.7


@pytest.mark.parametrize("bursts", [0.0, 1.0])
def test_as_many_messages_are_lost_in_bursts_as_one_by_one(bursts: float):
    ages = fly_world(world_of(bursts=bursts), 300)["age_s"][100:]
    lost = ages > PERIOD_S * 1.5
    assert lost.mean() == pytest.approx(0.3, abs=0.03)
    ends = (lost[:-1] & ~lost[1:]).sum() / lost.sum()
    assert ends == pytest.approx(0.1 if bursts else 0.7, abs=0.03)


def test_some_episodes_begin_with_a_run_up():
    start = world_of(run_ups=0.5, count=2).team.pos
    apart = np.sqrt(((start[:, 0] - start[:, 1]) ** 2).sum(-1))
    assert 0.4 < (apart > 5.5).mean() < 0.6
    assert (apart[apart < 5.5] < 2.5).all()


def test_the_bound_is_one_per_episode():
    """Contacts of one episode are one event, and its decisions are not independent."""
    found = prove(Campaign(seconds=2.5), load_any_vehicle("crazyflie_21"), PERIOD_S, 6e3, "textbook")
    assert found["collisions"] > found["collision_episodes"] > 0
    assert found["bound95_per_episode"] >= found["collision_episodes"] / found["episodes"]
    per_step = found["bound95_per_episode"] * found["episodes"] / found["agent_steps"]
    assert found["bound95_per_step"] == pytest.approx(per_step)


def test_a_fallback_against_the_policy_is_a_veto():
    """Nobody is ever heard again: everybody brakes, and the policies wanted something else."""
    found = prove(Campaign(seconds=2.0, loss=1.0, bursts=0.0), load_any_vehicle("crazyflie_21"), PERIOD_S, 4e3)
    assert found["veto_rate"] == pytest.approx(found["fallback_rate"], abs=0.02)
    assert found["veto_rate"] > 0.6
