"""`MatchResult`: results of a match, from the simulator's true log and the messages of referee and robots. No ROS."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robomarl.core.types import Figures
from robomarl.domains.soccer.core.log import MatchLog, load_match
from robomarl.domains.soccer.ros.referee import Phase, Said
from robomarl.ros.operator.flight_outcome import RehearsalResult, Ticks, figures_of, states_of
from robomarl.ros.robot.state_machine import State

HAS_M = 0.2
"""Distance [m] from a robot's centre to the ball at which its team gets the ball, until the opponents get it."""


@dataclass(frozen=True)
class MatchFigures:
    """One match; pairs are of the first team, which attacks towards +x, and of the second."""

    goals: tuple[int, int]
    played_s: float
    goals_at_s: tuple[tuple[float, int], ...]
    """Time in the log [s], and the scoring team: 0 or 1."""
    kick_offs: int
    """Number of kick-offs after goals, and of balls that were stuck."""
    possession: tuple[float, float]
    """Fractions of the time played; the rest to 1 is the time before any team had the ball."""
    kicks: tuple[int, int]
    impacts: tuple[int, int]
    """Impacts above 0.3 m/s, by the team that caused them."""
    rate_hz: dict[str, float]
    """Decisions per second of every robot while it was active."""


@dataclass(frozen=True)
class MatchResult(RehearsalResult):
    """Result of `play_match`; `ok`: the match went to its end, and all robots stand in STOP."""

    match: MatchFigures
    log: str
    """The match's `MatchLog`."""

    @property
    def line(self) -> str:
        """The match as one line."""
        match = self.match
        return (
            f"{'ok' if self.ok else 'FAILED'}: {match.goals[0]} : {match.goals[1]} after {match.played_s:.1f} s; kicks "
            f"{match.kicks[0]} and {match.kicks[1]}, impacts {match.impacts[0]} and {match.impacts[1]}; "
            f"{min(match.rate_hz.values(), default=0.0):.1f} decisions/s at least; {self.flight.messages} messages lost"
        )


def match_result(score: Figures, said: Said, ticks: Ticks) -> MatchResult:
    """Compute the figures of one match.

    Args:
        score: counts of the simulator.
        said: the referee's last message.
        ticks: recorded rows of the robots.
    """
    log = load_match(Path(score["log"]))
    states = states_of(ticks)
    impacts = int(score["impacts_first"]), int(score["impacts_second"])
    judged = {
        "seed": score["seed"],
        "flight_s": said.time_s,
        "succeeded_s": said.time_s,
        "time_limit_s": np.inf,
        "failed": 0,
        "collisions": sum(impacts),
        "min_distance_m": closest_m(log),
        "log": "",
    }
    match = MatchFigures(
        goals=said.goals,
        played_s=said.time_s,
        goals_at_s=tuple(goal_times(log)),
        kick_offs=said.kick_offs,
        possession=possession(log),
        kicks=(int(score["kicks_first"]), int(score["kicks_second"])),
        impacts=impacts,
        rate_hz={name: rate_hz([row["stamp_s"] for row in rows if row["active"]]) for name, rows in ticks.items()},
    )
    flight = figures_of(judged, ticks, "")
    ok = said.phase is Phase.OVER and set(states.values()) == {State.STOP.name}
    return MatchResult(flight, states, score["slipped_s"], ok, match, score["log"])


def goal_times(log: MatchLog) -> list[tuple[float, int]]:
    """When each goal was given, and for which team."""
    rows, teams = np.nonzero(np.diff(log.goals, axis=0) > 0)
    return [(float(log.time_s[row + 1]), int(team)) for row, team in zip(rows, teams, strict=True)]


def possession(log: MatchLog) -> tuple[float, float]:
    """Shares of the time played in which the first and the second team had the ball."""
    away = np.linalg.norm(log.robots_m[..., :2] - log.ball_m[:, None], axis=-1)
    nearest = away.reshape(len(away), 2, -1).min(-1)
    has = np.where(nearest.min(-1) <= HAS_M, nearest.argmin(-1), -1)
    last = np.maximum.accumulate(np.where(has >= 0, np.arange(len(has)), 0))
    has = has[last][log.playing]
    return (float((has == 0).mean()), float((has == 1).mean())) if len(has) else (0.0, 0.0)


def closest_m(log: MatchLog) -> float:
    """Least distance between the centres of two robots."""
    place = log.robots_m[..., :2]
    gap = np.linalg.norm(place[:, :, None] - place[:, None], axis=-1)
    return float(gap[:, ~np.eye(place.shape[1], dtype=bool)].min())


def rate_hz(stamps_s: list[float]) -> float:
    """Decisions per second from the first to the last."""
    return (len(stamps_s) - 1) / (stamps_s[-1] - stamps_s[0]) if len(stamps_s) > 1 else 0.0
