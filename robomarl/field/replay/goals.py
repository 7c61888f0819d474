"""`RecordedGoals`: which of the goals in a recording a robot had, and when. Goals have no stamps; ticks count them."""

from collections import deque

from robomarl.core.view import Goal


class RecordedGoals:
    """The goals of one robot, in the order in which they were recorded."""

    def __init__(self) -> None:
        """None was told."""
        self._told: deque[tuple[Goal, float]] = deque()
        self._count: int | None = None

    def tell(self, goal: Goal, received_s: float) -> None:
        """A goal, and when the recorder had it."""
        self._told.append((goal, received_s))

    def had(self, count: int, at_s: float) -> list[Goal]:
        """Those that reached the robot since the tick before.

        A robot looks for goals now and then, and so has one later than the recorder; a slow recorder has it later than
        the robot. So no goal counts before the robot's own count goes up, and then as many as it says, at least.

        Args:
            count: of the goals that had arrived at this tick.
            at_s: when it was.
        """
        missing = 1 if self._count is None else count - self._count
        is_same, self._count = count == (self._count or 0), count
        found: list[Goal] = []
        while not is_same and self._told and (self._told[0][1] <= at_s or len(found) < missing):
            found.append(self._told.popleft()[0])
        return found
