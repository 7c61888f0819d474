"""`bench liveness`: how long teams take to their goals behind rules and filter, beside straight through each other.

`GotoPolicy` flies straight to the goal, blind to everybody. As flown: behind the rules against deadlock and the filter,
on `mujoco`, with plans on the radio. Unfiltered: the same policy on `fast`, where robots pass through each other.
Trusting: as flown, behind a filter that takes estimates and commands as exact, which says what the errors that the
vehicle file declares cost. Certified: as flown, behind the certificate. A robot's time ends when it is at its goal,
within the scenario's `success.position_m`, for good. `--case` picks one scenario.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from benchmarks import Row
from robomarl.core.bundle.pilot import Pilot
from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.give_way import GiveWay
from robomarl.domains.flight.lab.engines.team_sim import TeamSim
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.goto import GotoPolicy
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import positions
from robomarl.lab.evaluate.episodes import Moves
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario

EPISODES, SECONDS, SEED = 32, 30.0, 0
SETTLED_S = 3.0
"""Once everybody has been at its goal for so long, everybody is there for good."""
CASES = ("swap_8", "swap_16", "passage_2", "queue_3")
CERTIFIED = ("swap_8", "swap_16")
"""Those that are flown behind the certificate too: for it the slit of passage_2 is closed."""
ERRORS = ("position_error_m", "velocity_error_m_s", "accel_error_m_s2", "accel_bias_m_s2", "lift_bias_m_s2")
"""What a vehicle file declares of them."""


class Flown(NamedTuple):
    """What came of some episodes."""

    time_s: np.ndarray
    """[E, N] when each robot was at its goal for good; infinite where it was not at the end."""
    closest_m: float
    """Least distance between the centres of two robots."""


def rows(cases: tuple[str, ...] = CASES, episodes: int = EPISODES, seconds: float = SECONDS) -> list[Row]:
    """Arrivals, times, and ratios of the medians, by scenario."""
    return [row for name in cases for row in measured(name, episodes, seconds)]


def measured(name: str, episodes: int, seconds: float) -> list[Row]:
    """The rows of one scenario."""
    scenario = load_scenario(name)
    policy = GotoPolicy(scenario)
    pilots = {mode: make_pilot(policy, scenario, mode) for mode in ("full", "off")}  # type: ignore[arg-type]
    time_s, closest_m = fly(make_team(scenario, "mujoco", episodes, SEED), pilots["full"], seconds)
    trusting = fly(make_team(scenario, "mujoco", episodes, SEED), trusting_pilot(policy, scenario), seconds)
    alone = fly(make_team(scenario, "fast", episodes, SEED), pilots["off"], seconds)
    median, alone_s, trusting_s = (float(np.median(t)) for t in (time_s, alone.time_s, trusting.time_s))
    certified = certified_rows(scenario, policy, alone_s, (episodes, seconds)) if name in CERTIFIED else []
    return certified + [
        Row(name, "robots that arrive", float(np.isfinite(time_s).mean()), ""),
        Row(name, "least distance", closest_m, "m"),
        Row(name, "median unfiltered", alone_s, "s"),
        Row(name, "median", median, "s"),
        Row(name, "90 %", float(np.quantile(time_s, 0.9)), "s"),
        Row(name, "99 %", float(np.quantile(time_s, 0.99)), "s"),
        Row(name, "median over unfiltered", median / alone_s, ""),
        Row(name, "the same, trusting", trusting_s / alone_s, ""),
    ]


def certified_rows(scenario: FlightScenario, policy: GotoPolicy, alone_s: float, size: tuple[int, float]) -> list[Row]:
    """The rows of a scenario behind the certificate; `size`: episodes, and seconds of each."""
    episodes, seconds = size
    pilot = make_pilot(policy, scenario, "certificate")  # type: ignore[arg-type]
    time_s, closest_m = fly(make_team(scenario, "mujoco", episodes, SEED), pilot, seconds)
    return [
        Row(scenario.name, "robots that arrive, certified", float(np.isfinite(time_s).mean()), ""),
        Row(scenario.name, "least distance, certified", closest_m, "m"),
        Row(scenario.name, "99 %, certified", float(np.quantile(time_s, 0.99)), "s"),
        Row(scenario.name, "median over unfiltered, certified", float(np.median(time_s)) / alone_s, ""),
    ]


def trusting_pilot(policy: GotoPolicy, scenario: FlightScenario) -> Pilot:
    """As `make_pilot`, with a filter that knows of no errors."""
    params = safety_params(scenario)
    exact = dataclasses.replace(params.safety, **dict.fromkeys(ERRORS, 0.0))
    return Pilot(policy, SafetyFilter(dataclasses.replace(params, safety=exact)), GiveWay(params))


def fly(team: TeamSim, pilot: Moves, seconds: float) -> Flown:
    """Fly a batch, until all of it has arrived or the time is over."""
    scenario = team.scenario
    world = team.reset()
    carry, time_s, closest_m = pilot.init(team.views()), np.zeros((team.num_envs, scenario.count)), np.inf
    for tick in range(round(seconds / scenario.period_s)):
        carry, result = pilot.step(carry, team.views())
        world = team.step(result.command, pilot.plan(carry))
        away = np.linalg.norm(positions(world.body) - world.goal_m, axis=-1) > scenario.success.position_m
        time_s = np.where(away, (tick + 2) * scenario.period_s, time_s)
        closest_m = min(closest_m, float(np.min(world.closest_m)))
        if (tick + 2) * scenario.period_s > time_s.max() + SETTLED_S:
            break
    return Flown(np.where(away, np.inf, time_s), closest_m)
