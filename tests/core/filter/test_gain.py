"""A gain that a policy sets: whatever it is, the filter keeps what it keeps with the owner's."""

import numpy as np
import pytest

from robomarl.core.filter.checks import check
from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.limits import limits_of
from robomarl.core.filter.memory import FilterCarry, Reason
from robomarl.core.filter.model import stacked
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.view import LocalView
from tests.core.filter.views import PARAMS, random_carry, random_views, spread_out

NUM = 3000


@pytest.fixture(params=["c", "numpy"])
def safety(request: pytest.FixtureRequest) -> SafetyFilter:
    return SafetyFilter(PARAMS, backend=request.param)


def crowd(random: np.random.Generator) -> tuple:
    """Robots nearer to each other than their margins allow, and farther: (carry, views, nominal, gain)."""
    views = spread_out(random_views(random, NUM), 1.5)
    owners = PARAMS.safety.gain_per_s
    gain = np.where(random.random(NUM) < 0.3, 0.0, random.uniform(0, owners, NUM))
    return random_carry(PARAMS, random, NUM), views, random.uniform(-2, 2, (NUM, 4)), gain


def rows_of(carry: FilterCarry, views: LocalView, gain: np.ndarray | None) -> list[np.ndarray]:
    """Right-hand sides of the rows [m, NUM]: speed, then mates; and [6, NUM] of the walls."""
    c = constants_of(PARAMS, "qp")
    checked = check(c, views, np.zeros((NUM, 4)), np)
    acting = carry.commands[:, carry.commands.shape[1] - c.num_acting :, :3]
    own = stacked.predict(c, checked.own, acting, carry.bias, np, stacked.weigh)
    own = own if gain is None else own._replace(keep=1 - gain * c.step_s)
    walls = stacked.faces(c, own, None, np)
    assert walls is not None
    return [limits_of(c, own, checked, np).rows[1].most, walls.most]


def test_no_row_asks_for_less_with_a_gain(random: np.random.Generator):
    carry, views, _, gain = crowd(random)
    (with_gain, walls), (owners, owners_walls) = rows_of(carry, views, gain), rows_of(carry, views, None)
    assert (with_gain[1:] <= owners[1:] + 1e-9).all() and (with_gain[1:] < owners[1:] - 1e-3).any(-1).all()
    # It is about mates: what never moves, and the own speed, are the owner's matter.
    np.testing.assert_array_equal(walls, owners_walls)
    np.testing.assert_array_equal(with_gain[0], owners[0])


def test_what_a_gain_lets_through_the_owners_filter_lets_through(safety: SafetyFilter, random: np.random.Generator):
    carry, views, nominal, gain = crowd(random)
    found = safety(carry, views, nominal, gain)[1]
    again = safety(carry, views, np.asarray(found.command), None)[1]
    whole = found.solved & (again.slack <= 1e-9)
    assert whole.sum() > NUM / 10
    # A mate's row that asks for more than braking makes a command give way to the brake besides: of that few remain.
    assert np.isclose(again.command[whole], found.command[whole], atol=1e-6).all(-1).mean() > 0.995


def test_where_no_command_holds_the_rows_of_a_gain_the_owners_count(safety: SafetyFilter, random: np.random.Generator):
    carry, views, nominal, gain = crowd(random)
    plain, found = (safety(carry, views, nominal, g)[1] for g in (None, gain))
    assert (found.solved >= plain.solved).all(), "no gain makes a decision fail that has an answer"
    torn = ~plain.solved
    assert torn.sum() > 10 and (found.reason[torn] == plain.reason[torn]).all()
    np.testing.assert_array_equal(found.command[torn], plain.command[torn])


def test_a_gain_that_is_not_finite_is_a_fault(safety: SafetyFilter, random: np.random.Generator):
    carry, views, nominal, gain = crowd(random)
    found = safety(carry, views, nominal, np.full_like(gain, np.nan))[1]
    assert not found.solved.any() and (found.reason == Reason.NON_FINITE).all()
    assert np.isfinite(found.command).all()


def test_both_backends_agree(random: np.random.Generator):
    given = crowd(random)
    in_c, plain = (SafetyFilter(PARAMS, backend=name)(*given)[1] for name in ("c", "numpy"))  # type: ignore[arg-type]
    np.testing.assert_array_equal(in_c.reason, plain.reason)
    np.testing.assert_allclose(in_c.command, plain.command, atol=1e-8)
