"""`bench filter --case certificate`: one decision of one certified robot among thirty, as in flown crowds."""

import gc
from typing import TypeVar

import numpy as np

from benchmarks import Row, percentiles
from benchmarks.certificate.flight import Crowd, CrowdFlight
from benchmarks.certificate.radio import over
from benchmarks.filter.latency import timed
from robomarl.core.certificate.memory import CertifiedCarry, DecisionInputs

Tree = TypeVar("Tree")
COUNT, EVERY, DECISIONS, REPEATS = 31, 10, 200, 20


def one_of(tree: Tree, robot: tuple[int, int]) -> Tree:
    """The arrays of one robot of a batch."""
    return over(lambda leaf: np.array(np.asarray(leaf)[robot]), tree)


class Crowded(CrowdFlight):
    """A crowd whose decisions are kept, of every fifth robot."""

    kept: list[tuple[CertifiedCarry, DecisionInputs]]

    def fly(self) -> None:
        """Four seconds."""
        self.kept, decide = [], self.certificate.step

        def step(carry: CertifiedCarry, given: DecisionInputs) -> object:
            if now % EVERY == EVERY // 2:
                robots = [(0, i) for i in range(0, COUNT, 5)]
                self.kept += [(one_of(carry, robot), one_of(given, robot)) for robot in robots]
            return decide(carry, given)

        self.certificate.step = step  # type: ignore[method-assign]
        for now in range(DECISIONS):  # noqa: B007
            self.tick(now)
        self.certificate.step = decide  # type: ignore[method-assign]


def rows() -> list[Row]:
    """Corner, ring and corridor; rows, rule, pacts and tracker, from Python's objects to Python's objects."""
    found: list[Row] = []
    for kind in ("corner", "ring", "corridor"):
        team = Crowded(Crowd("crazyflie_21", kind, count=COUNT, episodes=1, seed=5))
        team.fly()
        decide, kept = team.certificate.step, team.kept
        gc.collect()
        gc.disable()  # as a control loop on a robot does within a decision
        taken = [timed(lambda _, pair=pair, decide=decide: decide(*pair), 0) for _ in range(REPEATS) for pair in kept]
        gc.enable()
        name = f"certificate, 30 teammates, {kind}, {'numpy' if team.certificate.note else 'C'}"
        found += percentiles([pair[0] for pair in taken], name)
        found += percentiles([pair[1] for pair in taken], f"{name}, processor time")
    return found
