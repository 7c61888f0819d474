"""Decisions of a foreign recording: a tick wherever a robot was told to track something; as tracks, and as views."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from robomarl.core.spec import ObservationSpec
from robomarl.core.view import Goal, Heard, LocalView, NothingSensed, Own, Plan
from robomarl.field.foreign_bags.collect import ForeignRecording, ForeignRobot
from robomarl.field.foreign_bags.layout import ForeignLayout
from robomarl.field.track import RobotTrack

BREAK_S = 0.3
"""Without a command or an estimate for longer, another flight begins."""
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


class Ticks(NamedTuple):
    """Decisions of one robot, T in number."""

    at_s: np.ndarray
    """[T]."""
    own: np.ndarray
    """[T] index of the newest estimate then."""
    flight: np.ndarray
    """[T]."""
    command: np.ndarray
    """[T, A]."""


def ticks_of(robot: ForeignRobot) -> Ticks:
    """Every command for which there is an estimate not older than `BREAK_S`."""
    own = np.searchsorted(robot.seen_s, robot.sent_s, side="right") - 1
    age_s = robot.sent_s - robot.seen_s[np.maximum(own, 0)]
    kept = np.flatnonzero((own >= 0) & (age_s < BREAK_S))
    at_s, own = robot.sent_s[kept], own[kept]
    gaps = np.abs(np.diff(at_s)) > BREAK_S
    cut = np.concatenate([[0], gaps | (np.diff(at_s) < 0) | (np.diff(robot.part[own]) != 0)])
    return Ticks(at_s, own, np.cumsum(cut)[: len(at_s)].astype(int), robot.command[kept])


def foreign_tracks(found: ForeignRecording) -> list[RobotTrack]:
    """Return every flight of every robot; the loss of teammates' messages is not known."""
    tracks = []
    for name, robot in found.robots.items():
        ticks = ticks_of(robot)
        for flight in np.unique(ticks.flight):
            rows = ticks.flight == flight
            own = ticks.own[rows]
            pos, quat, vel, omega = np.split(robot.state[own], [3, 7, 10], axis=1)
            times = (robot.seen_s[own], pos, quat, vel, omega, ticks.at_s[rows])
            tracks.append(RobotTrack(name, int(flight), *times, ticks.command[rows]))
    return tracks


def views_of(found: ForeignRecording, layout: ForeignLayout, name: str, max_age_s: float) -> Iterator[LocalView]:
    """Yield the view that a robot could have had at each of its ticks, with its teammates by their own estimates.

    Args:
        found: the recording.
        layout: robots of the team, and their goals.
        name: name of the robot.
        max_age_s: older estimates of teammates count as not received.
    """
    robot, ticks = found.robots[name], ticks_of(found.robots[name])
    mates = [found.robots[mate] for mate in layout.robots if mate != name and mate in found.robots]
    goal = np.array(layout.goals_m.get(name, (np.nan,) * 3))
    began_s = {flight: ticks.at_s[ticks.flight == flight][0] for flight in np.unique(ticks.flight)}
    for at_s, own, flight in zip(ticks.at_s, ticks.own, ticks.flight, strict=True):
        pos, quat, vel, omega = np.split(robot.state[own], [3, 7, 10])
        yield LocalView(
            own=Own(pos, quat, vel, omega, np.float64(at_s - robot.seen_s[own])),
            heard=_heard(mates, at_s, max_age_s),
            sensed=NothingSensed(),
            goal=Goal(goal, UPRIGHT),
            role=np.int32(list(layout.robots).index(name)),
            time_s=np.float64(at_s - began_s[flight]),
        )


def _heard(mates: list[ForeignRobot], at_s: float, max_age_s: float) -> Heard:
    """Return the newest estimate of each of M teammates; their plans are not known, and policies do not see them."""
    newest = [int(np.searchsorted(mate.seen_s, at_s, side="right")) - 1 for mate in mates]
    age_s = np.array([at_s - mate.seen_s[k] if k >= 0 else np.inf for mate, k in zip(mates, newest, strict=True)])
    mask = age_s <= max_age_s
    state = np.array([mate.state[max(k, 0)] for mate, k in zip(mates, newest, strict=True)]).reshape(-1, 13)
    state, zero = np.where(mask[:, None], state, 0.0), np.zeros((len(mates), 3))
    return Heard(mask, state[:, :3], state[:, 7:10], np.where(mask, age_s, 0.0), Plan(*([zero] * len(Plan._fields))))


def observations_of(found: ForeignRecording, layout: ForeignLayout, name: str, spec: ObservationSpec) -> np.ndarray:
    """Return the observations [T, O] of a policy of this spec; NaN without a goal. Memory starts again
    with each flight.
    """
    flights = ticks_of(found.robots[name]).flight
    rows, memory, before = [], (), -1
    for flight, view in zip(flights, views_of(found, layout, name, spec.neighbours.max_age_s), strict=True):
        if flight != before:
            memory, before = spec.init(view), flight
        memory, seen = spec.observe(memory, view)
        rows.append(seen)
    return np.array(rows, np.float32).reshape(-1, spec.size)
