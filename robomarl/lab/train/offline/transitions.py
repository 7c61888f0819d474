"""Transitions from a data set: each robot's observation, requested action and reward, and its next observation."""

from typing import NamedTuple

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.domain.scenario import needed
from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.lab.dataset import Dataset
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.offline.team_path import TeamPath

ACTIVE = "ACTIVE"
"""The state in which the policy alone moves the robot."""
GAP_S = 0.3
"""Time [s] to a robot's nearest row from which on its state counts as unknown."""
STATE = ("pos_m", "quat_wxyz", "vel_m_s", "omega_rad_s", "goal_m", "command")


class Transitions(NamedTuple):
    """S transitions of all robots together."""

    obs: np.ndarray
    """[S, O]."""
    action: np.ndarray
    """[S, A] action that the policy requested, in [-1, 1]; the filter belongs to the system on which the policy
    acts.
    """
    reward: np.ndarray
    """[S]; 0 where only actions are to be imitated."""
    after: np.ndarray
    """[S, O] the next observation."""
    ended: np.ndarray
    """[S] 1 where the team failed: nothing comes after it."""
    returned: np.ndarray
    """[S] discounted rewards of the rest of the flight."""


def check_fits(data: Dataset, observation: ObservationSpec, action: ActionSpec) -> None:
    """Raises `UserError` where the rows are not of this observation and these commands, naming the first that is off;
    or where a decision was a sequence of actions, which rows of single ones do not show."""
    pairs = (("observation", observation.element_names()), ("command", [field.name for field in action.fields]))
    for column, wanted in pairs:
        has = data.names(column)
        off = next((i for i, (a, b) in enumerate(zip(has, wanted, strict=False)) if a != b), min(len(has), len(wanted)))
        if has != wanted:
            found, told = (names[off] if off < len(names) else "nothing" for names in (has, wanted))
            raise UserError(
                f"{data.file}: element {off} of {column} is {found}, the scenario's is {told}; name the scenario that "
                f"was flown ({data.about.get('scenario') or 'unknown'})."
            )
    if data.about.get("actions_each", 1) != 1:
        count = data.about["actions_each"]
        raise UserError(f"{data.file}: each decision was {count} actions, which can't be learned from rows of one.")


def scaled(command: np.ndarray, action: ActionSpec) -> np.ndarray:
    """Commands [..., A] in [-1, 1]."""
    middle, half = (action.high + action.low) / 2, (action.high - action.low) / 2
    return np.clip((command - middle) / half, -1, 1).astype(np.float32)


def asked_for(data: Dataset, action: ActionSpec) -> Transitions:
    """Return observations and actions for cloning: no rewards, no next observations.

    Raises:
        UserError: no policy was active in any row.
    """
    rows = _by_policy(data)
    if not rows.any():
        raise UserError(f"{data.file}: no row is of an active policy; record flights with one.")
    obs, zero = data.columns["observation"][rows], np.zeros(int(rows.sum()), np.float32)
    return Transitions(obs, scaled(data.columns["nominal"][rows], action), zero, obs, zero, zero)


def rewarded_transitions(
    data: Dataset, scenario: Scenario, action: ActionSpec, weights: dict[str, float], gamma: float
) -> Transitions:
    """Return all pairs of rows in which the second follows the first, with the task's rewards.

    Args:
        data: rows.
        scenario: scenario of the task that rewards.
        action: spec of the commands.
        weights: weights of reward terms, in place of the task's own.
        gamma: discount from one decision to the next.

    Raises:
        UserError: no pair, or the domain can't compute rewards of rows.
    """
    simulation = simulation_of(scenario)
    rewarded = needed(simulation.rewarded, scenario, "rewards of recorded rows", 'clone (algorithm = "bc")')
    policy, c, found = _by_policy(data), data.columns, []
    for recording in np.unique(c["recording"]):
        robots = _rows_by_robot(c, recording)
        for own in robots:
            path, known = team_path(c, robots, own)
            reward, failed = rewarded(scenario, path, weights)
            rows = robots[own]
            pair = c["follows"][rows][1:] & policy[rows][1:] & policy[rows][:-1] & known[1:] & known[:-1]
            column = sorted(robots).index(own)
            found.append(_of_robot(c, rows, action, (reward[:, column], failed, pair), gamma))
    every = Transitions(*(np.concatenate(column) for column in zip(*found, strict=True)))
    if not len(every.obs):
        raise UserError(f"{data.file}: no two rows of an active policy follow each other with all robots known.")
    return every


def _of_robot(
    c: dict[str, np.ndarray], rows: np.ndarray, action: ActionSpec, told: tuple[np.ndarray, ...], gamma: float
) -> Transitions:
    reward, failed, pair = told
    obs = c["observation"][rows]
    returned, rest = np.zeros(len(reward), np.float32), 0.0
    for k in range(len(reward) - 1, -1, -1):
        rest = float(reward[k]) + gamma * rest * (not failed[k]) if pair[k] else 0.0
        returned[k] = rest
    values = (obs[:-1], scaled(c["nominal"][rows][:-1], action), reward, obs[1:], failed, returned)
    return Transitions(*(np.asarray(value[pair], np.float32) for value in values))


def _by_policy(data: Dataset) -> np.ndarray:
    """[S] bool: rows in which a policy was active and said something."""
    c = data.columns
    there = np.isfinite(c["observation"]).all(-1) & np.isfinite(c["nominal"]).all(-1)
    return there & (c["state"].astype(str) == ACTIVE)


def _rows_by_robot(c: dict[str, np.ndarray], recording: int) -> dict[int, np.ndarray]:
    """Return each robot's rows of a recording, by its index, in the order of time."""
    here = np.flatnonzero(c["recording"] == recording)
    here = here[np.argsort(c["stamp_s"][here], kind="stable")]
    return {int(i): here[c["index"][here] == i] for i in np.unique(c["index"][here])}


def team_path(c: dict[str, np.ndarray], robots: dict[int, np.ndarray], own: int) -> tuple[TeamPath, np.ndarray]:
    """Return the whole team at the ticks of one robot.

    Args:
        c: columns of a data set.
        robots: rows of each robot, by index.
        own: index of the robot that provides the ticks; teammates are interpolated between their own
            ticks.

    Returns:
        The path, robots in the order of their indices; and [K] bool, True if all robots were known.
    """
    at_s = c["stamp_s"][robots[own]]
    found: dict[str, list[np.ndarray]] = {name: [] for name in STATE}
    known = np.ones(len(at_s), bool)
    for index in sorted(robots):
        rows = robots[index]
        stamps = c["stamp_s"][rows]
        later = np.clip(np.searchsorted(stamps, at_s), 0, len(stamps) - 1)
        earlier = np.maximum(later - 1, 0)
        off_s = np.minimum(np.abs(stamps[later] - at_s), np.abs(stamps[earlier] - at_s))
        known &= off_s < GAP_S
        for name in STATE:
            table = np.asarray(c[name][rows], float)
            found[name].append(np.stack([np.interp(at_s, stamps, column) for column in table.T], -1))
    path = TeamPath(*(np.stack(found[name], 1) for name in STATE))
    known &= np.isfinite(np.concatenate([path.goal_m, path.command, path.pos_m], -1)).all((1, 2))
    return path, known
