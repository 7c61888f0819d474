"""What the filter is told: checks, strictness, constants."""

import dataclasses

import pytest

from robomarl.core.config import build, to_dict
from robomarl.core.filter.filter import Arena, SafetyParams
from robomarl.core.filter.model.constants import constants_of


def changed(params: SafetyParams, **safety) -> SafetyParams:
    return dataclasses.replace(params, safety=dataclasses.replace(params.safety, **safety))


def test_parameters_survive_a_bundle(params: SafetyParams):
    assert build(SafetyParams, to_dict(params), "bundle.json") == params


def test_a_brake_that_the_limits_do_not_allow_is_refused(params: SafetyParams):
    """Brake, error and bias together, on each axis with its own bias; the message has the sum."""
    lift = r"reaches 2.9 m/s\^2 along z, .*accel_error_m_s2 \+ lift_bias_m_s2 = 2 \+ 0.3 \+ 1 = 3.3"
    with pytest.raises(ValueError, match=lift):
        changed(params, brake_m_s2=2.0)
    level = r"reaches 3 m/s\^2 along x, .*accel_error_m_s2 \+ accel_bias_m_s2 = 1.6 \+ 0.3 \+ 1.2 = 3.1"
    with pytest.raises(ValueError, match=level):
        changed(params, accel_bias_m_s2=1.2)
    with pytest.raises(ValueError, match="along z, .* accel_bias_m_s2 = .* = 2.95"):
        changed(params, accel_bias_m_s2=1.05, lift_bias_m_s2=None)
    assert changed(params, accel_bias_m_s2=1.1).bias_m_s2 == (1.1, 1.1, 1.0), "just so"


def test_a_gain_that_the_period_does_not_allow_is_refused(params: SafetyParams):
    with pytest.raises(ValueError, match="at most 25"):
        changed(params, gain_per_s=30.0)


def test_an_arena_without_inside_is_refused():
    with pytest.raises(ValueError, match="must be below"):
        Arena((0, 0, 1), (1, 1, 1))


def test_the_stricter_number_wins_on_both_sides(params: SafetyParams):
    limits = dataclasses.replace(params.limits, speed_m_s=1.0, accel_max_m_s2=(4.0, 2.5, 3.5))
    other = dataclasses.replace(params, limits=limits, arena=Arena((-1, -9, 0), (9, 9, 9)), min_mates=2)
    other = changed(other, separation_m=0.3, delay_s=0.04, gain_per_s=2.0)
    for both in (params.tighten(other), other.tighten(params)):
        assert both.limits.speed_m_s == 1.0
        assert both.limits.accel_max_m_s2 == (3.0, 2.5, 2.9)
        assert (both.safety.separation_m, both.safety.delay_s, both.safety.gain_per_s) == (0.3, 0.16, 2.0)
        assert both.arena == Arena((-1, -3, 0.1), (3, 3, 3))
        assert both.min_mates == 2


def test_a_bundle_that_allows_less_acceleration_leaves_less_to_brake_with(params: SafetyParams):
    narrow = dataclasses.replace(params.limits, accel_min_m_s2=(-1.0, -1.0, -2.9), accel_max_m_s2=(1.0, 1.0, 2.9))
    weak = dataclasses.replace(changed(params, brake_m_s2=0.5), limits=narrow)
    assert params.tighten(weak).safety.brake_m_s2 == pytest.approx(0.5)
    # The bundle knows of less bias; what is left is the room less the error and the larger bias of the two.
    sure = dataclasses.replace(changed(params, brake_m_s2=0.65, accel_bias_m_s2=0.05), limits=narrow)
    assert params.tighten(sure).safety.brake_m_s2 == pytest.approx(1.0 - 0.3 - 0.2)
    tiny = dataclasses.replace(params.limits, accel_min_m_s2=(-0.3,) * 3)
    none = changed(params, brake_m_s2=0.1, accel_error_m_s2=0.0, lift_bias_m_s2=0.2)
    with pytest.raises(ValueError, match="leaves nothing to brake with"):
        params.tighten(dataclasses.replace(none, limits=tiny))


def test_other_periods_are_refused(params: SafetyParams):
    with pytest.raises(ValueError, match="period_s differs"):
        params.tighten(dataclasses.replace(params, period_s=0.01))


# Of those on their way, decided k periods ago, these may be in force until the next estimate, as the shortest delay is
# half of it: none; 1; 3, 2 and 1; 8 to 4. The new one counts, which may be in force early.
@pytest.mark.parametrize(("delay_s", "length", "in_force"), [(0.0, 0, 1), (0.02, 1, 2), (0.05, 3, 3), (0.16, 8, 5)])
def test_the_queue_holds_what_the_longest_delay_leaves_open(
    params: SafetyParams, delay_s: float, length: int, in_force: int
):
    c = constants_of(changed(params, delay_s=delay_s))
    assert changed(params, delay_s=delay_s).queue_length == length == c.num_acting
    assert sum(c.queue.speed_s) == pytest.approx(c.horizon_s)
    assert c.horizon_s == delay_s
    assert sum(c.queue.way_s2) == pytest.approx(delay_s**2 / 2)
    assert c.next_count == in_force
    assert c.queue.oldest[-1:] == c.queue.newest[-1:] == (length - 1,) * bool(length), "in the end the last one, surely"


def test_the_stretches_of_the_queue_by_hand(params: SafetyParams):
    """Decided 60, 40 and 20 ms ago, each takes over from the one before 25 to 50 ms after its decision.

    So the first is in force from the start; the second from 10 ms on at the latest, maybe from the start; the third
    from 30 ms on at the latest, maybe from 5 ms.
    """
    queue = constants_of(changed(params, delay_s=0.05)).queue
    assert queue.oldest == (0, 0, 1, 2)
    assert queue.newest == (1, 2, 2, 2)
    assert queue.speed_s == pytest.approx((0.005, 0.005, 0.02, 0.02))
    # Each lasts until 50 ms, seen from its middle at 2.5, 7.5, 20 and 40 ms.
    assert queue.way_s2 == pytest.approx((0.005 * 0.0475, 0.005 * 0.0425, 0.02 * 0.03, 0.02 * 0.01))


def test_textbook_has_no_margins(params: SafetyParams):
    c = constants_of(params, "textbook")
    assert (c.own_error_m, c.mates.error_m, c.own_error_m_s, c.accel_error_m_s2) == (0,) * 4
    assert c.bias_m_s2 == c.mates.bias_m_s2 == (0, 0, 0)
    assert (c.horizon_s, c.num_acting, len(c.queue.speed_s)) == (0, 0, 0)
