"""What robots have heard of each other: messages with states and plans, late, lost or old."""

import numpy as np

from benchmarks.filter.fallbacks.genes import LOST, Genes
from benchmarks.filter.fallbacks.words import PERIOD_S, Words
from robomarl.core.view import Heard, Plan


class Radio:
    """E teams of N robots; the last entry of what is heard may be a ghost, a teammate that stands far away."""

    def __init__(self, words: Words, genes: Genes, said: np.ndarray, ghost: np.ndarray | None) -> None:
        """All have heard all at rest.

        Args:
            words: bounds.
            genes: what was drawn.
            said: [E, N, 15] position, velocity and plan of each.
            ghost: [E, N, 3] where the ghost is that each robot hears; None: there is none.
        """
        self.words, self.genes, robots = words, genes, said.shape[1]
        self.heard = np.repeat(said[:, None], robots, 1)
        self.ticks = np.ones((len(said), robots, robots), int)
        self.ghost, self.ghost_ticks = ghost, np.ones(said.shape[:2], int)
        self._past = [said] * 6
        self._others = np.array([[j for j in range(robots) if j != i] for i in range(robots)], int).reshape(robots, -1)

    def tell(self, step: int, said: np.ndarray, able: np.ndarray, starved: np.ndarray) -> None:
        """Deliver messages that were sent in this period, before the next decision.

        Args:
            step: of the decision that they were sent after.
            said: [E, N, 15].
            able: [E, N] bool: the robot sends.
            starved: [E, N, 2] bool: the receiver hears no teammates now; not the ghost.
        """
        self._past = [np.where(able[..., None], said, np.nan), *self._past[:-1]]
        late = self.genes["latency"]
        arrives = self._late(late)
        mask = self._arrives(step)
        mask &= ~starved[..., :1] & ~np.isnan(arrives[:, None, :, 0])
        self.ticks = np.where(mask, late[:, None, None], self.ticks + 1)
        self.heard = np.where(mask[..., None], arrives[:, None], self.heard)
        self.ghost_ticks = np.where(starved[..., 1], self.ghost_ticks + 1, 1)

    def _late(self, late: np.ndarray) -> np.ndarray:
        """[E, N, 15] what was sent `late` [E] periods ago."""
        return np.stack(self._past)[late - 1, np.arange(len(late))]

    def _arrives(self, step: int) -> np.ndarray:
        """[E, N, N] bool: what is sent now is received (receiver, sender), so that no age passes the limit."""
        turn = step + self.genes["link_phase"]
        late = self.genes["latency"][:, None, None]
        longest = max(int(self.words.max_age_s / PERIOD_S + 1e-6), 2)
        room = np.maximum(longest - late + 1, 1)
        half = (turn * 2654435761 % 97) < 48
        half |= turn % room == 0
        each = [turn >= 0, half, turn % room == 0, turn % (room + 4) > room - 2, turn % np.maximum(room - 1, 1) == 0]
        assert len(each) == len(LOST)
        return np.choose(self.genes["lost"][:, None, None], each)

    def view(self) -> Heard:
        """Messages [E, N, K] of the others, then of the ghost."""
        lead = np.arange(self.heard.shape[1])[:, None]
        rows, ages = self.heard[:, lead, self._others], self.ticks[:, lead, self._others]
        if self.ghost is not None:
            still = np.concatenate([self.ghost, 0 * self.ghost, self.ghost, 0 * self.ghost, self.ghost], -1)
            rows = np.concatenate([rows, still[:, :, None]], 2)
            ages = np.concatenate([ages, self.ghost_ticks[..., None]], 2)
        pos, vel, *plan = (rows[..., i : i + 3] for i in range(0, 15, 3))
        return Heard(np.ones(ages.shape, bool), pos, vel, ages * PERIOD_S - 1e-6, Plan(*plan))
