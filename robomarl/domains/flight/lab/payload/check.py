"""How the engines of a team under a load are compared: load pose, tensions, and when cables go slack and taut again.

The team manoeuvres together, every vehicle a little on its own, and one vehicle of each team drops and climbs, so
that its cable goes slack and is caught again. See `robomarl.lab.sim.check`.
"""

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import norm, rotation_angle
from robomarl.core.types import Figures
from robomarl.domains.flight.lab.check import HOLD_S, heavier
from robomarl.domains.flight.lab.payload.state import attitude, origin
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.lab.probe import CheckTrial, Probe, Seen

SLACK_FOR = 8
"""Decisions without tension that make a cable slack: shorter gaps are ringing."""
CAUGHT = 10
"""Decisions that a cable has been taut in both engines before its tensions are compared, as medians over them."""
SLACK_SHARE = 0.03
"""Fraction of the working tension below which a cable is slack."""
TEAM_M_S2, OWN_M_S2, DROP_M_S2 = 1.5, 0.3, 3.0
"""Accelerations of the team, of each vehicle on its own, and of the one that drops and climbs."""
DROP_S = (0.4, 1.0, 1.6)
"""It drops from the first time to the second, and climbs until the third."""
START_M = 20.0
"""Height of the load at the start: the floor is far away."""


class Trace(NamedTuple):
    """Trace of one engine, [E, ...] each, or [T, E, ...]."""

    pos_m: np.ndarray
    """Position [m] of the load."""
    quat: np.ndarray
    tension_n: np.ndarray
    """[..., N]"""


def lifted(scenario: FlightScenario, seconds: float) -> FlightScenario:
    """The scenario far above the floor, with taut cables and vehicles at rest, and noise of no consequence."""
    load, cables = scenario.carried
    place = dataclasses.replace(load.start, low_m=(0.0, 0.0, START_M), high_m=(0.0, 0.0, START_M))
    load = dataclasses.replace(load, start=place)
    cables = dataclasses.replace(cables, start_slack=0.0, start_speed_m_s=0.0, start_tilt_rad=0.0)
    return dataclasses.replace(scenario, load=load, cables=cables)


def all_heavier(world: FlightWorld, factor: float) -> FlightWorld:
    """Return the state with masses of vehicles and load times `factor`, unknown to the controllers."""
    load = world.carried
    cargo = load.cargo._replace(mass_kg=load.cargo.mass_kg * np.float32(factor))
    return heavier(world, factor)._replace(load=load._replace(cargo=cargo))


def manoeuvres(
    scenario: FlightScenario, world: FlightWorld, random: np.random.Generator, seconds: float
) -> tuple[FlightWorld, np.ndarray]:
    """Return the start as drawn, and [T, E, N, 5] commands: the team's, each vehicle's own, and those of one vehicle
    that drops and climbs.
    """
    scenario.command.must_be_flown(scenario.name, "check")
    low, high = scenario.command_limits
    shape = world.closest_m.shape
    steps, shortest, longest = (max(1, round(s * scenario.rates.policy_hz)) for s in (seconds, *HOLD_S))
    commands = np.zeros((steps, *shape, len(low)), np.float32)
    begin = 0
    while begin < steps:
        end = begin + int(random.integers(shortest, longest + 1))
        own = random.uniform(-OWN_M_S2, OWN_M_S2, (*shape, 3))
        commands[begin:end, ..., :3] = random.uniform(-TEAM_M_S2, TEAM_M_S2, (shape[0], 1, 3)) + own
        begin = end
    start, turn, stop = (round(s * scenario.rates.policy_hz) for s in DROP_S)
    for team in range(shape[0]):
        commands[start:turn, team, team % scenario.count, 2] = -DROP_M_S2
        commands[turn:stop, team, team % scenario.count, 2] = DROP_M_S2
    return world, np.clip(commands, low, high)


def seen(world: FlightWorld) -> Trace:
    """Return the load's position and attitude, and its cables' tensions."""
    load = world.carried
    parts = (origin(load.rigid, load.cargo.com_m), attitude(load.rigid), load.tension_n)
    return Trace(*(np.asarray(part, float) for part in parts))


def compare(scenario: FlightScenario, first: tuple[Seen, ...], second: tuple[Seen, ...]) -> Figures:
    """How far two engines are apart, at worst over time and teams."""
    load, _ = scenario.carried
    a, b = (Trace(*(np.stack(column) for column in zip(*run[0], strict=True))) for run in (first, second))
    slack_n = SLACK_SHARE * load.mass_kg * 9.81 / scenario.count
    taut = [trace.tension_n > slack_n for trace in (a, b)]
    return {
        "position_diff_m": float(norm(a.pos_m - b.pos_m).max()),
        "attitude_diff_rad": float(rotation_angle(a.quat, b.quat).max()),
        "tension_diff": tension_difference(a.tension_n, b.tension_n, taut[0] & taut[1], slack_n / SLACK_SHARE),
        "event_diff_s": event_difference(*taut) * scenario.period_s,
        "slack_events": int(sum((times >= 0).sum() for times in events(taut[0]))),
    }


def tension_difference(a: np.ndarray, b: np.ndarray, taut: np.ndarray, working_n: float) -> float:
    """Worst difference over the tension, while taut for `CAUGHT` decisions in both; medians over those decisions."""
    last = len(taut) - CAUGHT + 1
    if last < 1:
        return 0.0
    settled = np.stack([taut[i : last + i] for i in range(CAUGHT)]).all(0)
    middle = [np.median(np.stack([x[i : last + i] for i in range(CAUGHT)]), 0) for x in (a, b)]
    relative = np.abs(middle[0] - middle[1]) / np.maximum(np.minimum(*middle), 0.5 * working_n)
    return float(relative[settled].max(initial=0.0))


def events(taut: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the decision at which each cable first goes slack, and at which it is caught then; [E, N]
    each, -1 if never.

    The cable's motion after the catch depends on how it bounced, on which two engines need not agree.
    """
    length = len(taut)
    padded = np.concatenate([taut, np.ones((SLACK_FOR, *taut.shape[1:]), bool)])
    slack = ~np.stack([padded[i : length + i] for i in range(SLACK_FOR)]).any(0)
    when = np.where(slack.any(0), slack.argmax(0), -1)
    later = taut & (np.arange(length)[:, None, None] > np.where(when < 0, length, when))
    return when, np.where(later.any(0), later.argmax(0), -1)


def event_difference(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference in decisions between first slack and first catch of two histories; inf if one has none."""
    worst = 0.0
    for first, second in zip(events(a), events(b), strict=True):
        # What happens within the last decisions of one history may come after the end of the other.
        late = np.maximum(first, second) >= len(a) - SLACK_FOR
        if ((first < 0) != (second < 0))[~late].any():
            return math.inf
        worst = max(worst, float(np.abs(first - second)[~late].max(initial=0)))
    return worst


PROBE = Probe(
    trials=(CheckTrial(manoeuvres, lifted),),
    compare=compare,
    limits={
        "position_diff_m": 0.03,
        "attitude_diff_rad": math.radians(3.0),
        "tension_diff": 0.10,  # over itself, while the cable is taut in both engines
        "event_diff_s": 0.02,
    },
    seen=seen,
    mistaken=all_heavier,
    engines=("fast", "mujoco"),  # mjx has no loads
)
