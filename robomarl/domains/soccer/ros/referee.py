"""`Referee`: the rules of a match, from the place of the ball: goals, a ball that is stuck, the end.
No ROS here.

They equal the rules of `robomarl.domains.soccer.lab.game.whistle`, which referees in training; a
test holds the two together.
"""

from enum import StrEnum
from typing import NamedTuple

import numpy as np

LONGEST_S = 1.0
"""A clock that jumps counts for this much at most."""


class Phase(StrEnum):
    """Phase of a match."""

    WAITING = "WAITING"
    """Not begun."""
    PLAYING = "PLAYING"
    STOPPED = "STOPPED"
    """It can go on."""
    OVER = "OVER"
    """Its time is up."""


class Said(NamedTuple):
    """State of the match that a referee reports."""

    phase: Phase
    goals: tuple[int, int]
    """Goals of the first team, which attacks towards +x, and of the second."""
    time_s: float
    """Played so far."""
    kick_offs: int
    """Number of kick-offs after goals, and of balls that were stuck; the first one is not counted."""


NOTHING_YET = Said(Phase.WAITING, (0, 0), 0.0, 0)


class Rules(NamedTuple):
    """Numbers of the scenario."""

    half_length_m: float
    ball_radius_m: float
    stuck_m: float
    """A ball that stays within this distance ..."""
    stuck_s: float
    """... for this time is put back."""
    match_s: float
    puts_back: bool = True
    """Robots and ball are put back by themselves (a simulator); otherwise the game stops for people to do it."""


class RefereeCall(NamedTuple):
    """Decision of the referee to be carried out now."""

    why: str
    kick_off: int = 0
    """Team that kicks off. 1: the first, -1: the second; 0: none."""
    stops: bool = False
    """All robots are to stop."""


class Referee:
    """Referee of one match after another."""

    def __init__(self, rules: Rules) -> None:
        """Wait."""
        self.rules, self.said = rules, NOTHING_YET
        self._forget()

    def _forget(self) -> None:
        self._then_s: float | None = None
        self._anchor, self._still_s = np.zeros(2), 0.0
        self._dead = False
        """A goal was given, and the ball has not been seen on the field since."""

    def start(self) -> str:
        """Begin, or go on; returns why not."""
        if self.said.phase in (Phase.PLAYING, Phase.OVER):
            return f"the match is {self.said.phase}" + ("; reset it first" * (self.said.phase is Phase.OVER))
        self._forget()
        self.said = self.said._replace(phase=Phase.PLAYING)
        return ""

    def stop(self) -> None:
        """Interrupt a match that is going on."""
        if self.said.phase is Phase.PLAYING:
            self.said = self.said._replace(phase=Phase.STOPPED)

    def reset(self) -> str:
        """A new match; returns why not."""
        if self.said.phase is Phase.PLAYING:
            return "the match is PLAYING; stop it first"
        self.said = NOTHING_YET
        self._forget()
        return ""

    def see(self, ball_m: np.ndarray | None, now_s: float) -> RefereeCall | None:
        """Advance the match; return the decision to be carried out, if any.

        Args:
            ball_m: [2] place of the ball now; None: not seen since the last call.
            now_s: by any clock that does not stand still while the game is on.
        """
        if self.said.phase is not Phase.PLAYING:
            return None
        passed_s = 0.0 if self._then_s is None else min(max(now_s - self._then_s, 0.0), LONGEST_S)
        self._then_s = now_s
        self.said = self.said._replace(time_s=self.said.time_s + passed_s)
        if self.said.time_s >= self.rules.match_s - 1e-9:
            self.said = self.said._replace(phase=Phase.OVER)
            return RefereeCall("time is up", stops=True)
        return None if ball_m is None else self._look(ball_m, passed_s)

    def award(self, ball_m: np.ndarray) -> tuple[RefereeCall | None, str]:
        """Give a goal by hand, to the team that has the ball in its attacking half; return the decision, or why not."""
        if self.said.phase not in (Phase.PLAYING, Phase.STOPPED):
            return None, f"the match is {self.said.phase}"
        return self._goal(1 if ball_m[0] > 0 else -1), ""

    def _look(self, ball_m: np.ndarray, passed_s: float) -> RefereeCall | None:
        line_m = self.rules.half_length_m + self.rules.ball_radius_m
        scored = int(ball_m[0] > line_m) - int(ball_m[0] < -line_m)
        if scored and self._dead:
            return None  # the kick-off is on its way
        self._dead = False
        if scored:
            return self._goal(scored)
        moved = float(np.sum((ball_m - self._anchor) ** 2)) > self.rules.stuck_m**2
        self._anchor, self._still_s = (ball_m, 0.0) if moved else (self._anchor, self._still_s + passed_s)
        if self._still_s <= self.rules.stuck_s:
            return None
        return self._again("the ball is stuck", 1 - 2 * (self.said.kick_offs % 2))

    def _goal(self, scored: int) -> RefereeCall:
        first, second = self.said.goals
        self.said = self.said._replace(goals=(first + (scored > 0), second + (scored < 0)))
        self._dead = True
        text = "first" if scored > 0 else "second"
        return self._again(f"goal for the {text} team, {self.said.goals[0]} : {self.said.goals[1]}", -scored)

    def _again(self, why: str, kick_off: int) -> RefereeCall:
        self._anchor, self._still_s = np.zeros(2), 0.0
        self.said = self.said._replace(kick_offs=self.said.kick_offs + 1)
        if not self.rules.puts_back:
            self.stop()
        return RefereeCall(why, kick_off, stops=not self.rules.puts_back)
