"""Words between robots of E teams: late, lost in turns and in bursts, and no more from some time on."""

from typing import TypeVar

import numpy as np

from benchmarks.filter.fallbacks.genes import Genes
from robomarl.core.certificate.pact import Word

Tree = TypeVar("Tree")
LOSSES = 4
"""Ways to lose messages: none, 30 % at random, about half of them by link, and a third of the time at a stretch. One
more, of the random matrix: half of the time, 25 decisions at a stretch."""
KEPT = 6


def over(change, *trees: Tree) -> Tree:
    """Nested tuples with `change` of their arrays."""
    if isinstance(trees[0], tuple):
        return type(trees[0])(*(over(change, *parts) for parts in zip(*trees, strict=True)))
    return change(*trees)


class Radio:
    """Radio of E teams. Row k of robot i is robot (i + 1 + k) mod N."""

    def __init__(
        self, genes: Genes, random: np.random.Generator, count: int, deaf_after: float | None, losses: int = LOSSES
    ) -> None:
        """Begin without any message; `deaf_after` so many decisions nothing is received."""
        self.genes, self.random, self.deaf_after, self.losses = genes, random, deaf_after, losses
        robots, rows = np.arange(count)[:, None], np.arange(count - 1)[None]
        self.mates, self.back = (robots + 1 + rows) % count, count - 2 - rows + 0 * robots
        self._past: list[Word] = []

    def first(self, said: Word) -> Word:
        """Return the words of teammates before the first message: none."""
        heard = self._turned(said)
        return heard._replace(number=heard.number * 0 - 1)

    def carry(self, said: Word, heard: Word, step: int) -> Word:
        """Return the newest words that robots have received after the messages [E, N, K] of a decision."""
        self._past = [self._turned(said), *self._past[: KEPT - 1]]
        arrives = self._arrives(step, said.number.shape)
        late = np.minimum(self.genes["latency"], len(self._past)) - 1
        which = [(words, arrives & (late == age)[:, None, None]) for age, words in enumerate(self._past)]
        which = [(words, here) for words, here in which if here.any()]
        new = over(np.array, heard)
        for words, here in which:
            over(lambda a, b, here=here: a.__setitem__(here, b[here]), new, words)
        return new

    def _turned(self, said: Word) -> Word:
        return over(lambda part: part[:, self.mates, self.back], said)

    def _arrives(self, step: int, shape: tuple[int, ...]) -> np.ndarray:
        if self.deaf_after is not None and step > self.deaf_after:
            return np.zeros(shape, bool)
        turn = step + self.genes["link_phase"][:, :, : shape[-1]]
        ways = [np.ones(shape, bool), self.random.random(shape) >= 0.3, turn * 2654435761 % 97 < 48, turn // 12 % 3 > 0]
        ways.append(turn // 25 % 2 > 0)
        return np.choose(np.minimum(self.genes["lost"], self.losses - 1)[:, None, None], ways)
