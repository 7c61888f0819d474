"""`Reason.SOLVER`: a solver that stops at its limit of rounds leaves a fallback that keeps each limit."""

import numpy as np
import pytest

from benchmarks.filter.fallbacks.drive import Case, Flight, summary
from benchmarks.filter.fallbacks.table import broken
from robomarl.core.filter.filter import Reason, SafetyFilter, SafetyParams
from robomarl.core.filter.qp import projection
from tests.core.filter.views import random_carry, random_views

EVERY_TICK, EVERY_OTHER, ONE_OF_FIVE = (1, 0), (2, 0), (5, 4)
"""The solver gives up in tick `step` where `step % first == second`."""


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch):
    """Stop the numpy solver after its first row, or let it go on."""
    enough = projection.ROUNDS
    return lambda stops: monkeypatch.setattr(projection, "ROUNDS", 0 if stops else enough)


@pytest.mark.parametrize("when", [EVERY_TICK, EVERY_OTHER, ONE_OF_FIVE])
@pytest.mark.parametrize("limit", ["heard", "obstacle", "wall"])
def test_solver_that_gives_up_keeps_each_limit(limited, limit: str, when: tuple[int, int]):
    case = Case("crazyflie_21", "ok", limit, count=3, episodes=4, seconds=4.0, backend="numpy")
    flight = Flight(case)
    for step in range(200):
        limited(step % when[0] == when[1])
        flight.tick(step)
    row = summary(case, flight.found())
    assert float(row["share_solver"]) > 0.02, row
    assert not broken(row), row


def test_solver_that_gives_up_is_named_and_answers_as_no_command_at_all(
    limited, params: SafetyParams, random: np.random.Generator
):
    """Where no command holds all rows, the fallback is the same whether the solver found that out or not."""
    views, carry = random_views(random, 200, mask_share=1.0), random_carry(params, random, 200)
    nominal = random.normal(size=(200, 4)) * 3
    safety = SafetyFilter(params, backend="numpy")
    found = safety(carry, views, nominal)[1]
    limited(stops=True)
    early = safety(carry, views, nominal)[1]
    torn, gave_up = found.reason == Reason.INFEASIBLE, early.reason == Reason.SOLVER
    assert (torn & gave_up).sum() > 10
    assert not early.solved[gave_up].any()
    np.testing.assert_allclose(early.command[torn & gave_up], found.command[torn & gave_up], atol=1e-12)


def test_numpy_solver_gives_up_by_itself_and_says_so(random: np.random.Generator):
    """A point far outside of a box that many rows cut: some of these problems need more rounds than there are."""
    normals, bounds = random.normal(size=(20000, 12, 3)), random.normal(size=(20000, 12))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    box = np.broadcast_to(np.concatenate([np.eye(3), -np.eye(3)]), (20000, 6, 3))
    rows, most = np.concatenate([normals, box], 1), np.concatenate([bounds, np.full((20000, 6), 3.0)], 1)
    found = projection.project_batch(rows, most, random.normal(size=(20000, 3)) * 1e3)
    gave_up = ~found.solved & ~found.infeasible
    assert gave_up.any()
    assert (found.residual[gave_up] > projection.TOLERANCE).all()
