"""`check` for a team under a load: load pose, tensions, and when cables go slack and taut again.

The team manoeuvres together, every vehicle a little on its own, and one vehicle of each team drops and climbs, so
that its cable goes slack and is caught again. Masses, lengths, motors, delays and wind are drawn as in the
scenario, equal for all engines.
"""

import dataclasses
import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from robomarl.domains.flight.batch import TeamSim, make_team
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.flight.world import World
from robomarl.domains.payload.state import Load, attitude, origin
from robomarl.geometry import norm, rotation_angle

POSITION_LIMIT_M = 0.03
ATTITUDE_LIMIT_RAD = math.radians(3.0)
TENSION_LIMIT = 0.10
"""Largest difference of a tension over itself, while the cable is taut in both engines."""
EVENT_LIMIT_S = 0.02
SLACK_FOR = 8
"""Decisions without tension that make a cable slack: shorter gaps are ringing."""
CAUGHT = 10
"""Decisions that a cable has been taut in both engines before its tensions are compared, as medians over them."""
SLACK_SHARE = 0.03
"""Below this share of the working tension a cable is slack."""
HOLD_S = (0.2, 0.4)
TEAM_M_S2, OWN_M_S2, DROP_M_S2 = 1.5, 0.3, 3.0
"""Accelerations of the team, of each vehicle on its own, and of the one that drops and climbs."""
DROP_S = (0.4, 1.0, 1.6)
"""It drops from the first time to the second, and climbs until the third."""
START_M = 20.0
"""Height of the load at the start: the floor is far away."""


class Trace(NamedTuple):
    """What one engine did, [T, E, ...]."""

    pos_m: np.ndarray
    quat: np.ndarray
    tension_n: np.ndarray
    """[T, E, N]"""


def check_load(
    scenario: FlightScenario, sims: tuple[str, ...], config: Any, mass_scale: Mapping[str, float]
) -> dict[str, Any]:
    """Fly the same commands on every engine.

    Args:
        scenario: what is compared; it has a load.
        sims: engines, two or more.
        config: `robomarl.domains.flight.check.CheckConfig`; duration, seed, teams.
        mass_scale: engine -> factor on all its masses.

    Returns:
        `position_diff_m`, `attitude_diff_rad` of the load, `tension_diff`, `slack_events`, `event_diff_s` (worst over
        time, teams and pairs of engines), `passed`, `pairs`.
    """
    high = lifted(scenario)
    teams = {sim: make_team(high, sim, config.teams, config.seed) for sim in sims}
    for sim, team in teams.items():
        team.set_world(scale_masses(team.reset(), mass_scale.get(sim, 1.0)))
    steps = max(1, round(config.seconds * scenario.rates.policy_hz))
    rows: dict[str, list[Trace]] = {sim: [] for sim in sims}
    for command in tqdm(manoeuvres(high, config, steps), desc="check", unit="step", leave=False, disable=None):
        for sim, team in teams.items():
            rows[sim].append(look(team, command))
    traces = {sim: Trace(*(np.stack(column) for column in zip(*row, strict=True))) for sim, row in rows.items()}
    pairs = [compare(scenario, a, b, traces) for a, b in itertools.combinations(sims, 2)]
    names = ("position_diff_m", "attitude_diff_rad", "tension_diff", "event_diff_s", "slack_events")
    return {
        **{name: max(pair[name] for pair in pairs) for name in names},
        "position_limit_m": POSITION_LIMIT_M,
        "attitude_limit_rad": ATTITUDE_LIMIT_RAD,
        "tension_limit": TENSION_LIMIT,
        "event_limit_s": EVENT_LIMIT_S,
        "passed": all(pair["passed"] for pair in pairs),
        "pairs": pairs,
    }


def lifted(scenario: FlightScenario) -> FlightScenario:
    """The scenario far above the floor, with taut cables and vehicles at rest, and noise of no consequence."""
    assert scenario.load is not None, "only for scenarios with a load"
    assert scenario.cables is not None, "only for scenarios with a load"
    place = dataclasses.replace(scenario.load.start, low_m=(0.0, 0.0, START_M), high_m=(0.0, 0.0, START_M))
    load = dataclasses.replace(scenario.load, start=place)
    cables = dataclasses.replace(scenario.cables, start_slack=0.0, start_speed_m_s=0.0, start_tilt_rad=0.0)
    return dataclasses.replace(scenario, load=load, cables=cables)


def scale_masses(world: World, factor: float) -> World:
    """The same state with other masses of vehicles and load, which the controllers do not know of."""
    load, size = world.load, np.float32(factor)
    assert isinstance(load, Load), "only for scenarios with a load"
    cargo = load.cargo._replace(mass_kg=load.cargo.mass_kg * size)
    physics = world.hidden.physics._replace(mass_kg=world.hidden.physics.mass_kg * size)
    return world._replace(load=load._replace(cargo=cargo), hidden=world.hidden._replace(physics=physics))


def manoeuvres(scenario: FlightScenario, config: Any, steps: int) -> np.ndarray:
    """[steps, E, N, 5] commands: the team's, each vehicle's own, and one vehicle that drops and climbs."""
    scenario.command.must_be_flown(scenario.name, "check")
    random = np.random.default_rng(config.seed)
    low, high = scenario.command_limits
    shape = (config.teams, scenario.count)
    commands = np.zeros((steps, *shape, len(low)), np.float32)
    shortest, longest = (max(1, round(s * scenario.rates.policy_hz)) for s in HOLD_S)
    begin = 0
    while begin < steps:
        end = begin + int(random.integers(shortest, longest + 1))
        own = random.uniform(-OWN_M_S2, OWN_M_S2, (*shape, 3))
        commands[begin:end, ..., :3] = random.uniform(-TEAM_M_S2, TEAM_M_S2, (config.teams, 1, 3)) + own
        begin = end
    start, turn, stop = (round(s * scenario.rates.policy_hz) for s in DROP_S)
    for team in range(config.teams):
        commands[start:turn, team, team % scenario.count, 2] = -DROP_M_S2
        commands[turn:stop, team, team % scenario.count, 2] = DROP_M_S2
    return np.clip(commands, low, high)


def look(team: TeamSim, command: np.ndarray) -> Trace:
    """One decision, and where the load is then."""
    load = team.step(command).load
    assert isinstance(load, Load), "only for scenarios with a load"
    parts = (origin(load.rigid, load.cargo.com_m), attitude(load.rigid), load.tension_n)
    return Trace(*(np.asarray(part, float) for part in parts))


def compare(scenario: FlightScenario, first: str, second: str, traces: dict[str, Trace]) -> dict[str, Any]:
    """Two engines."""
    a, b = traces[first], traces[second]
    assert scenario.load is not None, "only for scenarios with a load"
    slack_n = SLACK_SHARE * scenario.load.mass_kg * 9.81 / scenario.count
    taut = [trace.tension_n > slack_n for trace in (a, b)]
    figures = {
        "position_diff_m": float(norm(a.pos_m - b.pos_m).max()),
        "attitude_diff_rad": float(rotation_angle(a.quat, b.quat).max()),
        "tension_diff": tension_difference(a.tension_n, b.tension_n, taut[0] & taut[1], slack_n / SLACK_SHARE),
        "event_diff_s": event_difference(*taut) * scenario.period_s,
        "slack_events": int(sum((times >= 0).sum() for times in events(taut[0]))),
    }
    limits = (POSITION_LIMIT_M, ATTITUDE_LIMIT_RAD, TENSION_LIMIT, EVENT_LIMIT_S + 1e-9)
    passed = all(v <= limit for v, limit in zip(figures.values(), limits, strict=False))
    return {"first": first, "second": second, **figures, "passed": bool(passed)}


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
    """Decision at which each cable first goes slack, and at which it is caught then; [E, N] each, -1 if never.

    What a cable does after it was caught hangs on how it bounced, and two engines need not agree on that.
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
