"""The law of carriers that were thrown: own sectors, limited shares, and throws that it catches."""

import dataclasses
import math

import numpy as np
import pytest

from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.payload.controllers.catch import CatchGains, CatchLaw
from robomarl.domains.flight.lab.payload.controllers.decentralized import PlaceLaw
from robomarl.domains.flight.lab.payload.lift import law
from robomarl.domains.flight.lab.payload.start import outward
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.lab.sim.scenario import load_scenario

UPRIGHT = np.eye(3)


@pytest.fixture(scope="module")
def recover() -> FlightScenario:
    return load_scenario("recover_3")


ALONE = np.zeros(16)


def seen(index: int, cable: np.ndarray, velocity=(0, 0, 0), parting=(0, 0, 0), axes=UPRIGHT, mates=ALONE) -> np.ndarray:
    """An observation of the law at its goal; robot and payload part at `parting`, seen six times at 100 Hz."""
    cables = [cable - 0.01 * i * np.array(parting) for i in range(5, -1, -1)]
    return np.concatenate([np.zeros(3), velocity, np.eye(6)[index], np.ravel(axes), *cables, mates])


def mate(place=(0, 0, 0), motion=(0, 0, 0)) -> list[float]:
    """What is known of a mate that is heard: place and velocity relative to the robot, age, and 1."""
    return [*place, *motion, 0.02, 1.0]


def test_who_was_thrown_catches_and_the_others_place(recover: FlightScenario):
    assert isinstance(law(recover), CatchLaw)
    assert isinstance(law(load_scenario("lift_3")), PlaceLaw)


def test_nothing_is_asked_for_at_rest_in_the_own_sector(recover: FlightScenario):
    catch = CatchLaw(recover)
    assert recover.cables is not None
    places = outward(recover.cables) * recover.cables.length_m
    assert np.allclose(np.linalg.norm(places, axis=1), 0.3)
    for i, place in enumerate(places):
        assert np.allclose(catch.act(seen(i, place)), 0.0, atol=1e-6)
        # 1 cm too near to the payload on the x axis: 20/s^2 times 1 cm; 1 cm too low: 6/s^2 times 1 cm.
        assert np.allclose(catch.act(seen(i, place - [0.01, 0, 0.01])), [0.2, 0, 0.06, 0, 0], atol=1e-6)


def test_the_team_brakes_together_and_a_little(recover: FlightScenario):
    """2 m/s with the payload: 2/s of it would be 4 m/s^2; more than 1.5 would leave too little for the sectors."""
    catch, fast = CatchLaw(recover), (2.0, 0.0, 0.0)
    assert recover.cables is not None
    place = outward(recover.cables)[1] * recover.cables.length_m
    assert np.allclose(catch.act(seen(1, place, velocity=fast)), [-CatchGains().brake_m_s2, 0, 0, 0, 0], atol=1e-6)
    alone = catch.act(seen(1, place, (0.2, 0, 0), (0.2, 0, 0)))
    assert alone[0] == pytest.approx(-(5 * 0.2 + 2 * 0.2))


def test_who_will_be_near_is_dodged(recover: FlightScenario):
    """A mate that comes within a moment is where it will be nearest; one that leaves is where it is."""
    assert recover.cables is not None
    gains = CatchGains(dodge_m_s2=10.0, dodge_m=0.5, dodge_s=0.2)
    catch, place = CatchLaw(recover, gains), outward(recover.cables)[1] * recover.cables.length_m

    def asked(first: list[float], second: list[float] | None = None) -> np.ndarray:
        return catch.act(seen(1, place, mates=np.array([*first, *(second or [0.0] * 8)])))

    # 0.4 m away: a fifth of the way to a touch, so a fifth of 10 m/s^2, along the line between them
    assert np.allclose(asked(mate((0.4, 0, 0))), [-2, 0, 0, 0, 0], atol=1e-3)
    assert np.allclose(asked(mate((0.4, 0, 0), (1, 0, 0))), [-2, 0, 0, 0, 0], atol=1e-3)
    assert np.allclose(asked(mate((0.4, 0, 0), (-1, 0, 0))), [-6, 0, 0, 0, 0], atol=1e-3)  # 0.2 m in 0.2 s
    # passes behind at 0.3 m, within the time: away from where it is then
    assert np.allclose(asked(mate((0.1, 0.3, 0), (-1, 0, 0))), [0, -4, 0, 0, 0], atol=1e-2)
    assert np.allclose(asked(mate((0, 0, 0.6))), 0, atol=1e-3)
    both = asked(mate((0.4, 0, 0)), mate((-0.4, 0, 0)))
    assert np.allclose(both, 0, atol=1e-3)
    unheard = [*mate((0.4, 0, 0))[:7], 0.0]
    assert np.allclose(asked(unheard), 0, atol=1e-6)


def test_who_is_on_his_back_turns_away_from_his_mate_with_hardly_any_lift(recover: FlightScenario):
    """Rolled by 180 degrees, a mate at 0.4 m on the x axis: the least lift, and all of the turn in pitch.

    The thrust that is wanted points against the body's x axis and its z axis: to it leads a negative pitch.
    """
    assert recover.cables is not None
    gains = CatchGains(dodge_m_s2=10.0, dodge_m=0.5, turned_m_s2=4.0, turn_rad_s=2.0)
    place, down = outward(recover.cables)[1] * recover.cables.length_m, np.diag([1.0, -1.0, -1.0])
    low = recover.command_limits[0][2]

    def asked(*place_m: float) -> np.ndarray:
        mates = np.array([*mate(place_m), *[0.0] * 8])
        return CatchLaw(recover, gains).act(seen(1, place + 0.3, (1, 1, 1), axes=down, mates=mates))

    assert np.allclose(asked(0.4, 0, 0), [-2, 0, low, 0, -2], atol=1e-3)
    assert np.allclose(asked(0.03, 0.04, 0), [-2.4, -3.2, low, -1.6, -1.2], atol=1e-2)  # 9 m/s^2, of which 4 at most
    alone = CatchLaw(recover, gains).act(seen(1, place, axes=down))
    assert np.allclose(alone[:3], [0, 0, low], atol=1e-6)


def test_most_throws_end_without_a_touch(recover: FlightScenario):
    """Of 24 throws on the training engine at least 18 are well after 1.5 s, when the worst is over."""
    scenario = dataclasses.replace(recover, time_limit_s=1.5)
    task, team = task_of(scenario), make_team(scenario, "fast", 24, 1)
    assert task.law is not None
    flown, hurt = task.law(scenario), np.zeros(24, bool)
    team.reset()
    memory = flown.observation.init(team.views())
    for _ in range(scenario.max_steps):
        memory, obs = flown.observation.observe(memory, team.views())
        hurt |= np.asarray(task.failed(scenario, team.step(flown.act(obs))))
    tilt = np.asarray(1 - 2 * (team.world.body.quat[1] ** 2 + team.world.body.quat[2] ** 2))
    assert hurt.sum() <= 6
    assert np.median(tilt[~hurt]) > math.cos(0.5)
