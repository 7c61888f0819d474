"""`RallyResult`: results of rallies through the nodes, from the simulator's true log and the robots' ticks. No ROS."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robomarl.core.types import Figures
from robomarl.domains.volleyball.core.log import RallyLog, load_rally
from robomarl.ros.operator.flight_outcome import FlightFigures, RehearsalResult, Ticks, figures_of, states_of


@dataclass(frozen=True)
class RallyOutcome:
    """Figures of one rally, as the referee counted them."""

    seed: int
    rally_s: float
    """Time [s] from the serve to the end of the rally."""
    hits: int
    score: float
    """The task's metric; in a match the first team's points: 1, 0, or 0.5 for a draw."""
    fault: int
    """Number of the fault that ended a match; -1: none, or no match."""
    ended: bool
    """The rally was over; False: it was not served, or the time of the rehearsal was."""
    collisions: int
    min_distance_m: float
    mates_m: float
    """Least distance [m] of two mates while the ball was in play."""
    net_m: float
    """Least distance [m] of a robot from the net while the ball was in play."""
    apart_m: float
    """Least distance [m] of a robot from the one that had the next hit or was hitting, as `mates_m` for hitters."""
    filter_active_share: float
    log: str


@dataclass(frozen=True)
class RallyResult(RehearsalResult):
    """Result of `play_rallies`; `ok`: all rallies were played to an end, and no two robots touched."""

    rallies: tuple[RallyOutcome, ...]
    is_match: bool

    @property
    def line(self) -> str:
        """The rallies as one line."""
        rallies, last = self.rallies, self.rallies[-1]
        hits, scores = [rally.hits for rally in rallies], [rally.score for rally in rallies]
        what = "points of the first team" if self.is_match else "metric"
        mates = min(rally.mates_m for rally in rallies)
        return (
            f"{'ok' if self.ok else 'FAILED'}: {len(rallies)} rallies, {last.rally_s:.1f} s the last one; hits "
            f"{np.mean(hits):.1f}, {what} {np.mean(scores):.2f} on average; contacts "
            f"{sum(rally.collisions for rally in rallies)}"
            f"{f', mates no nearer than {mates:.2f} m' if np.isfinite(mates) else ''}; {self.flight.messages} messages "
            "lost"
        )


def counts_of(score: Figures, ticks: Ticks) -> tuple[RallyOutcome, FlightFigures]:
    """Compute the figures of one rally.

    Args:
        score: the simulator's figures.
        ticks: rows of the robots during the rally.
    """
    log = load_rally(Path(score["log"]))
    flight = figures_of({**score, "succeeded_s": score["rally_s"], "failed": 0, "log": ""}, ticks, "")
    counts = RallyOutcome(
        seed=int(score["seed"]),
        rally_s=score["rally_s"],
        hits=int(score["hits"]),
        score=score["score"],
        fault=int(score["fault"]),
        ended=int(score["phase"]) == OVER,
        collisions=int(score["collisions"]),
        min_distance_m=score["min_distance_m"],
        mates_m=mates_m(log),
        net_m=net_m(log),
        apart_m=hitters_m(log),
        filter_active_share=flight.filter_active_share,
        log=score["log"],
    )
    return counts, flight


OVER = 3
"""Phase of a rally that has ended, as the simulator counts."""


def distances_m(log: RallyLog) -> np.ndarray:
    """[T, M, M] distances of mates while the ball is in play; +inf to itself and to opponents."""
    place = log.robots_m[log.in_play]
    gap = np.linalg.norm(place[:, :, None] - place[:, None], axis=-1)
    count, teams = place.shape[1], int(log.teams)
    side = np.arange(count) * teams // count
    return np.where((side[:, None] == side) & ~np.eye(count, dtype=bool), gap, np.inf)


def mates_m(log: RallyLog) -> float:
    """Least distance [m] of two mates while the ball is in play; +inf if it never is."""
    return float(distances_m(log).min(initial=np.inf))


def hitters_m(log: RallyLog) -> float:
    """Least distance [m] of a mate to a robot in the decision in which it hits; +inf without a hit."""
    hit = log.hit[log.in_play]
    return float(distances_m(log)[hit].min(initial=np.inf)) if hit.any() else np.inf


def net_m(log: RallyLog) -> float:
    """Least distance [m] of a robot from the net while the ball is in play, below its upper edge or not; +inf without
    a rally."""
    return float(np.abs(log.robots_m[log.in_play][..., 0]).min(initial=np.inf))


def result_of(
    counted: list[tuple[RallyOutcome, FlightFigures]], ticks: Ticks, slipped_s: float, is_match: bool
) -> RallyResult:
    """Return the result of all rallies; the nodes' figures are those of the last one."""
    rallies = tuple(counts for counts, _ in counted)
    ok = all(rally.ended and not rally.collisions for rally in rallies)
    return RallyResult(counted[-1][1], states_of(ticks), slipped_s, ok, rallies, is_match)
