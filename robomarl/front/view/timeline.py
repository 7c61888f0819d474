"""`Timeline`: the moments that a viewer has, the one that it shows, and how fast time goes on."""

import time
from typing import Protocol

import numpy as np

from robomarl.lab.scene.scene import Scene, SceneMoment

KEPT = 20_000
"""Moments of a live source that can be gone back to; older ones are dropped."""
BUDGET_S = 0.02
"""Longest time that one turn of the loop asks its source for moments."""


class MomentSource(Protocol):
    """A stream of moments: a simulation, a recording, a fleet."""

    scene: Scene
    moment: SceneMoment
    """The newest one."""

    @property
    def sets_goals(self) -> bool:
        """True if goals can be set from outside."""
        ...

    def set_goal(self, robot: int, place_m: np.ndarray) -> None:
        """Give a robot another goal [3]."""
        ...

    def advance(self) -> SceneMoment | None:
        """Return the next moment; None if there is none now."""
        ...

    def restart(self) -> SceneMoment:
        """Start again, and return the first moment."""
        ...


class Timeline:
    """The moments of a source, as they were shown, with a cursor that plays them."""

    def __init__(self, source: MomentSource, own_pace: bool) -> None:
        """Take the newest moment of a source.

        Args:
            source: where moments come from.
            own_pace: True if the source goes on by itself, as robots do: then its newest moment is shown, whenever.
        """
        self._source, self._own_pace = source, own_pace
        self._moments = [source.moment]
        self._cursor, self._clock_s, self._whole = 0, source.moment.time_s, False
        self.playing, self.speed = True, 1.0

    def load(self) -> None:
        """Take all moments of a source that ends, such as a recording, and show the first one."""
        self._whole = True
        while self._more():
            pass
        self.seek(self._moments[0].time_s)

    @property
    def moment(self) -> SceneMoment:
        """The moment that is shown."""
        return self._moments[self._cursor]

    @property
    def span_s(self) -> tuple[float, float]:
        """Times of the oldest and the newest moment."""
        return self._moments[0].time_s, self._moments[-1].time_s

    def trail(self, seconds: float) -> list[SceneMoment]:
        """Return the moments up to the one that is shown, as far back as given."""
        first, until = self._cursor, self.moment.time_s
        while first > 0 and until - self._moments[first - 1].time_s <= seconds:
            first -= 1
        return [self._moments[index] for index in range(first, self._cursor + 1)]

    def restart(self) -> None:
        """Start the source again and forget its moments."""
        self._begin(self._source.restart())

    def set_goal(self, robot: int, place_m: np.ndarray) -> None:
        """Give a robot another goal [3] at once, and show the newest moment with it, even in a pause."""
        self._source.set_goal(robot, place_m)
        newest = self._moments[-1]
        if len(newest.goal_m):
            goals = newest.goal_m.copy()
            goals[min(robot, len(goals) - 1)] = place_m
            self._moments[-1] = newest._replace(goal_m=goals)
        self.seek(newest.time_s)

    def seek(self, time_s: float) -> None:
        """Show the last moment that is not after a time [s]."""
        self._cursor = self._index(time_s)
        self._clock_s = self.moment.time_s

    def step(self, count: int = 1) -> None:
        """Show a moment later by a number of moments, earlier if negative; a source that can is asked for more."""
        for _ in range(count):
            if self._cursor == len(self._moments) - 1 and not self._own_pace and not self._more():
                break
            self._cursor = min(self._cursor + 1, len(self._moments) - 1)
        self._cursor = max(0, self._cursor + min(count, 0))
        self._clock_s = self.moment.time_s

    def tick(self, elapsed_s: float) -> bool:
        """Let time pass by seconds of the wall clock. Returns True if another moment is shown than before."""
        shown = self.moment
        if self._own_pace:
            at_end = self._cursor == len(self._moments) - 1
            while self._more():
                pass
            if self.playing and (at_end or self.speed == 1.0):
                self._cursor = len(self._moments) - 1
        elif self.playing:
            self._clock_s += elapsed_s * self.speed
            began_s = time.monotonic()
            while self._clock_s > self._moments[-1].time_s + 1e-9 and self._more():
                if time.monotonic() - began_s > BUDGET_S:  # a slow source is shown slower, and not in jumps
                    self._clock_s = self._moments[-1].time_s
            self._clock_s = min(self._clock_s, self._moments[-1].time_s + self._source.scene.period_s)
            self._cursor = self._index(self._clock_s)
        return self.moment is not shown

    def _more(self) -> bool:
        """Take one more moment from the source; one that is earlier than the last begins a new episode."""
        moment = self._source.advance()
        if moment is None:
            return False
        if moment.time_s < self._moments[-1].time_s:
            self._begin(moment)
            return False
        self._moments.append(moment)
        if len(self._moments) > KEPT and not self._whole:
            dropped = KEPT // 10
            self._moments = self._moments[dropped:]
            self._cursor = max(0, self._cursor - dropped)
        return True

    def _begin(self, moment: SceneMoment) -> None:
        self._moments = [moment]
        self._cursor, self._clock_s = 0, moment.time_s

    def _index(self, time_s: float) -> int:
        """Return the place of the last moment that is not after a time, by bisection."""
        low, high = 0, len(self._moments) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._moments[middle].time_s <= time_s + 1e-9 else (low, middle - 1)
        return low
