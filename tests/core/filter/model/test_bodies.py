"""Bodies other than team-mates: nearest points against brute force, strangers, obstacles, tails, the plane."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robomarl.core.filter.model import pairs
from robomarl.core.filter.model.bodies import Obstacle, Strangers, Tail
from robomarl.core.filter.model.body_kinds import Shape
from robomarl.core.filter.model.constants import Constants, constants_of
from robomarl.core.filter.model.motion import NOWHERE, Floats, Motion, Predicted
from robomarl.core.filter.model.pairs import Body
from robomarl.core.filter.model.separation import apart
from tests.core.filter.views import EXACT

coordinate = st.floats(-2, 2)
vector = st.tuples(coordinate, coordinate, coordinate)
size = st.tuples(*[st.floats(0, 1.5)] * 3)


def nearest(points_of: Callable[[np.ndarray], np.ndarray], own: tuple | None, offset: tuple) -> float:
    """Least distance by search: our line in a thousand pieces, then finer around the best."""
    line = np.zeros(3) if own is None else np.array(own)
    low, high = 0.0, 1.0
    for _ in range(4):
        shares = np.linspace(low, high, 301)
        places = np.array(offset) + shares[:, None] * line
        distance = np.linalg.norm(places - points_of(places), axis=1)
        best = shares[distance.argmin()]
        low, high = max(best - 2 * (high - low) / 300, 0.0), min(best + 2 * (high - low) / 300, 1.0)
    return float(distance.min())


def on_line(line: tuple) -> Callable[[np.ndarray], np.ndarray]:
    direction = np.array(line)
    length = max(direction @ direction, 1e-18)
    return lambda x: np.clip(x @ direction / length, 0, 1)[:, None] * direction


@given(vector, st.one_of(st.none(), vector), vector)
def test_nearest_points_of_lines_are_those_that_a_search_finds(offset, own, line):
    found = np.linalg.norm(apart(offset, own, Shape(line=line), Floats))
    assert found == pytest.approx(nearest(on_line(line), own, offset), abs=1e-5)


@given(vector, st.one_of(st.none(), vector), size)
def test_nearest_points_of_a_box_are_those_that_a_search_finds(offset, own, box):
    found = np.linalg.norm(apart(offset, own, Shape(box=box), Floats))
    assert found == pytest.approx(nearest(lambda x: np.clip(x, 0, box), own, offset), abs=1e-5)


@given(vector, vector, vector, size)
def test_nearest_points_of_floats_and_arrays_agree(offset, own, line, box):
    arrays = [tuple(np.array([x]) for x in v) for v in (offset, own)]
    for shape in (Shape(), Shape(line=line), Shape(box=box)):
        for one, many in ((None, None), (own, arrays[1])):
            expected = apart(offset, one, shape, Floats)
            np.testing.assert_allclose([x[0] for x in apart(arrays[0], many, shape, np)], expected, atol=1e-12)


def with_strangers(answer: str, accel: float) -> Constants:
    strangers = Strangers(0.3, accel, 3.0, 0.0, 0.0, 0.5, answer)  # type: ignore[arg-type]
    return constants_of(dataclasses.replace(EXACT, strangers=strangers))._replace(own_error_m=0.0)


@given(st.floats(0, 1.5), st.floats(-1, 2.5), st.floats(0, 3), st.floats(0.3, 4))
def test_from_the_boundary_a_stranger_comes_no_nearer_before_we_are_at_rest(speed, theirs, accel, apart_m):
    """Head on, we brake as hard as we always can, they accelerate as hard as they can: we are at rest in time."""
    c = with_strangers("stop", accel)
    kind = c.strangers
    assert kind is not None
    own = Predicted(Motion((0, 0, 1), (speed, 0, 0)), NOWHERE, NOWHERE)
    body = Body(Motion((0.3 + apart_m, 0, 1), (-theirs, 0, 0)), 0.0, 0.0)
    if pairs.pair(c, kind, own, body, Floats).value < 0:
        return
    time = np.linspace(0, speed / c.brake_m_s2, 200)
    ours = speed * time - c.brake_m_s2 * time**2 / 2
    pos = np.maximum(theirs, 0) * time + accel * time**2 / 2
    assert (apart_m - ours - pos >= -2e-3).all()


@pytest.mark.parametrize("answer", ["stop", "evade"])
def test_the_row_keeps_the_barrier_against_the_worst_that_a_stranger_does(answer: str):
    """Period by period with the acceleration that the row allows, while they come as fast as they can."""
    accel = 0.8
    c = with_strangers(answer, accel)
    kind = c.strangers
    assert kind is not None
    for theirs in (0.0, 0.5, 1.2):
        x, v, gap = 0.0, 0.0, 4.0
        for _ in range(600):
            own = Predicted(Motion((x, 0, 1), (v, 0, 0)), NOWHERE, NOWHERE)
            body = Body(Motion((0.3 + gap + x, 0, 1), (-theirs, 0, 0)), 0.0, 0.0)
            row = pairs.pair(c, kind, own, body, Floats)
            u = max(min(row.bound.most, 2.0), -c.brake_m_s2)
            push = min(accel, (3.0 - theirs) / c.step_s)
            gap -= (v + theirs) * c.step_s + (u + push) * c.step_s**2 / 2
            x, v, theirs = x + v * c.step_s + u * c.step_s**2 / 2, v + u * c.step_s, theirs + push * c.step_s
            # At rest before they are there; faster away than they come, nobody is ever there.
            assert gap > -2e-3 or (answer == "stop" and v <= 1e-2)
            if gap < 0:
                break
        assert gap > -2e-3 or answer == "stop"


def test_who_may_come_from_outrunning_us_cannot_be_evaded():
    with pytest.raises(ValueError, match="set strangers.answer = 'stop'"):
        with_strangers("evade", 1.6)


def test_obstacles_need_a_clearance():
    unset = dataclasses.replace(EXACT, safety=dataclasses.replace(EXACT.safety, clearance_m=None))
    with pytest.raises(ValueError, match="safety.clearance_m is unset"):
        dataclasses.replace(unset, obstacles=(Obstacle("sphere", (0.0, 0.0, 1.0), radius_m=0.2),))


@pytest.mark.parametrize(
    ("obstacle", "gap"),
    [
        (Obstacle("sphere", (2.0, 0.0, 1.0), radius_m=0.5), 1.5),
        (Obstacle("capsule", (2.0, -1.0, 0.0), (2.0, 1.0, 2.0), 0.1), 1.9),
        (Obstacle("box", (1.5, -1.0, 0.0), (3.0, 1.0, 3.0)), 1.5),
        (Obstacle("box", (1.5, -1.0, 1.3), (3.0, 1.0, 3.0)), np.hypot(1.5, 0.3)),
    ],
)
def test_the_distance_to_an_obstacle_is_to_its_surface(obstacle: Obstacle, gap: float):
    params = dataclasses.replace(EXACT, safety=dataclasses.replace(EXACT.safety, clearance_m=0.15))
    c = constants_of(dataclasses.replace(params, obstacles=(obstacle,), tail=Tail((0.0, 0.0, -0.5), 0.3, 0.1)))
    solid = c.solids[0]
    body = Body(Motion(solid.place_m, (0.0, 0.0, 0.0)), 0.0, 0.0, solid.shape)
    own = Predicted(Motion((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)), NOWHERE, NOWHERE)
    assert pairs.pair(c, solid.kind, own, body, Floats).gap_m == pytest.approx(gap - 0.15)
    # The tail hangs straight down from the centre.
    lower = 1.9 if obstacle.kind == "capsule" else gap
    assert solid.tail_kind is not None
    if obstacle.kind != "capsule":
        found = pairs.pair(c, solid.tail_kind, own, body, Floats, c.tail_m).gap_m
        assert found == pytest.approx(lower - 0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "sphere", "to_m": (1.0, 1.0, 1.0)}, "to_m must be left out"),
        ({"kind": "capsule"}, "to_m must be given"),
        ({"kind": "box", "to_m": (-1.0, 1.0, 1.0)}, "must be the lowest corner"),
        ({"kind": "sphere", "radius_m": 0.0}, "must be larger than 0"),
    ],
)
def test_mistakes_in_obstacles_are_named(change: dict, message: str):
    with pytest.raises(ValueError, match=message):
        Obstacle(**{"from_m": (0.0, 0.0, 0.0), "radius_m": 0.1, **change})
