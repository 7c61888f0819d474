# pyright: reportAttributeAccessIssue=false
"""What a `Pilot` makes of numbers, shapes and types that nobody can mean, on every leaf of the view and the memory."""

import math
import warnings
from typing import Any

import numpy as np
import pytest

from robomarl.core.bundle.given.trees import leaves
from robomarl.core.bundle.pilot import Pilot, PilotCarry, load_pilot
from robomarl.core.bundle.runtime import read_golden
from robomarl.core.filter.memory import Reason
from robomarl.core.view import LocalView

BAD = (math.nan, math.inf, -math.inf, 1e39, -1e39)
BUNDLES = ("swap_4", "lift_3")
"""With rules against deadlock, and with means in the memory of the observation."""
READ_BY_THE_FILTER = {"own.pos_m", "own.vel_m_s", "own.age_s", "heard.pos_m", "heard.vel_m_s", "heard.age_s"}
LEFT = ("safety.plan", "safety.place_m", "safety.bias.misfits", "safety.ok")
"""Of the filter's memory: what it says and counts, and does not decide by."""


def at(tree: Any, place: tuple[int, ...]) -> Any:
    if isinstance(tree, tuple):
        return type(tree)(*(at(part, place) for part in tree)) if hasattr(tree, "_fields") else ()
    return np.asarray(tree)[place]


def put(tree: Any, name: str, make: Any, here: str = "") -> Any:
    """The tree with another leaf of that name."""
    if not isinstance(tree, tuple):
        return make(tree) if here == name else tree
    names = getattr(tree, "_fields", None) or [f"[{i}]" for i in range(len(tree))]
    inner = [f"{here}.{field}".strip(".").replace(".[", "[") for field in names]
    parts = [put(part, name, make, path) for part, path in zip(tree, inner, strict=True)]
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)


def last(value: float) -> Any:
    """A leaf whose last number is this one."""

    def make(leaf: Any) -> Any:
        if isinstance(leaf, list):
            return [*leaf[:-1], value]
        with np.errstate(over="ignore"):
            made = np.array(leaf)
            made.reshape(-1)[-1:] = value
        return made

    return make


class Flight:
    """A pilot after three decisions on golden views, for one robot or for its team."""

    def __init__(self, bundle: str, one: bool) -> None:
        self.pilot, self.one = load_pilot(bundle), one
        views = read_golden(self.pilot.policy.bundle).views
        moments = [at(views, (0, t, 0) if one else (0, t)) for t in range(4)]
        self.carry: PilotCarry = self.pilot.init(moments[0])
        for moment in moments[:3]:
            self.carry, _ = self.pilot.step(self.carry, moment)
        self.view: LocalView = moments[3]
        _, self.told = self.step()

    def step(self, carry: PilotCarry | None = None, view: LocalView | None = None) -> tuple[PilotCarry, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return self.pilot.step(carry or self.carry, view or self.view)

    def numbers(self, tree: Any) -> list[str]:
        """Names of the leaves that hold numbers which need not be whole."""
        found = leaves(tree)
        return [name for name, leaf in found if np.size(leaf) and np.asarray(leaf).dtype.kind == "f"]

    def reason(self, told: Any) -> int:
        """Of the last robot."""
        return int(np.asarray(told.reason).reshape(-1)[-1])


@pytest.fixture(scope="module", params=[(bundle, one) for bundle in BUNDLES for one in (True, False)], ids=str)
def flight(request: pytest.FixtureRequest) -> Flight:
    return Flight(*request.param)


def assert_can_be_sent(flight: Flight, told: Any) -> None:
    limits, command = flight.pilot.safety.params.limits, np.asarray(told.command)
    assert np.isfinite(command).all()
    assert (command[..., :3] >= np.asarray(limits.accel_min_m_s2) - 1e-6).all()
    assert (command[..., :3] <= np.asarray(limits.accel_max_m_s2) + 1e-6).all()


def test_a_number_of_the_view(flight: Flight):
    """It is named where it is read, and costs this decision and no other; where it is not read nothing changes."""
    reads = flight.pilot.policy.observation.reads | READ_BY_THE_FILTER
    names = flight.numbers(flight.view)
    assert len(names) >= 13
    for name in names:
        if name.startswith("heard.plan"):
            continue  # tests/core/filter holds the filter against it
        is_read = any(name.startswith(path) or path.startswith(name) for path in reads)
        for value in BAD:
            after, told = flight.step(view=put(flight.view, name, last(value)))
            assert_can_be_sent(flight, told)
            if is_read:
                assert flight.reason(told) == Reason.NON_FINITE, (name, value)
            else:
                np.testing.assert_array_equal(told.command, flight.told.command, err_msg=name)
            after, told = flight.step(carry=after)
            assert flight.reason(told) == flight.reason(flight.told), (name, value, "one decision later")
        _, told = flight.step(view=put(flight.view, name, last(5e-324)))
        assert flight.reason(told) == flight.reason(flight.told), name


def test_a_number_of_the_memory(flight: Flight):
    names = flight.numbers(flight.carry)
    assert len(names) >= 15
    for name in names:
        for value in BAD:
            after, told = flight.step(carry=put(flight.carry, name, last(value)))
            assert_can_be_sent(flight, told)
            if not name.startswith(("way", *LEFT)):
                assert flight.reason(told) == Reason.NON_FINITE, (name, value)
            for _ in range(2):
                after, told = flight.step(carry=after)
            assert flight.reason(told) == flight.reason(flight.told), (name, value)
            whole = [leaf for part, leaf in leaves(after) if not part.startswith(LEFT)]
            assert all(np.isfinite(np.asarray(leaf, float)).all() for leaf in whole), (name, value)


def test_one_robot_of_a_team_loses_its_own_decision_only():
    flight = Flight("swap_4", False)
    _, told = flight.step(view=put(flight.view, "goal.pos_m", last(math.nan)))
    np.testing.assert_array_equal(told.command[:-1], flight.told.command[:-1])
    after, _ = flight.step(carry=put(flight.carry, "memory[0]", last(math.nan)))
    right, _ = flight.step()
    np.testing.assert_array_equal(after.memory[0][:-1], right.memory[0][:-1])


def wrong_shapes(leaf: Any) -> list[Any]:
    """One number too many, one axis too many, the axes turned round where that is something else."""
    array = np.asarray(leaf)
    more = np.concatenate([array, array[..., -1:]], -1) if array.ndim else np.stack([array, array])
    turned = [np.swapaxes(array, -1, -2)] if array.ndim > 1 and array.shape[-1] != array.shape[-2] else []
    return [more, array[None], *turned, *([array[..., 0]] if array.ndim else [])]


def refused_by_name(flight: Flight, name: str, wrong: Any, **given: Any) -> None:
    with pytest.raises(ValueError) as refused:
        flight.pilot.step(given.get("carry", flight.carry), given.get("view", flight.view))
    text = str(refused.value)
    assert "\n" not in text
    assert text.endswith(".")
    assert name.replace(".safety", "") in text, (name, np.shape(wrong), text)


def test_a_shape_of_the_view_is_refused_by_name(flight: Flight):
    for name, leaf in leaves(flight.view):
        for wrong in wrong_shapes(leaf):
            if (
                name.startswith("sensed.")
                and np.shape(wrong)[: 0 if flight.one else 1] == flight.told.command.shape[:-1]
            ):
                continue  # the task's own: only the team's axis is known here
            if name == "own.pos_m" and np.shape(wrong)[-1:] == (3,):
                refused_by_name(flight, "view.own.", wrong, view=put(flight.view, name, lambda _, w=wrong: w))
                continue  # which of two is the wrong one can't be known
            if name == "heard.mask":
                refused_by_name(flight, "view.heard.", wrong, view=put(flight.view, name, lambda _, w=wrong: w))
                continue
            refused_by_name(flight, f"view.{name}", wrong, view=put(flight.view, name, lambda _, w=wrong: w))


def test_a_shape_of_the_memory_is_refused_by_name(flight: Flight):
    for name, leaf in leaves(flight.carry):
        if name.startswith("safety.") and not name.startswith(("safety.commands", "safety.bias")):
            continue  # the filter writes it and does not read it
        if isinstance(leaf, list):
            refused_by_name(flight, f"carry.{name}", leaf, carry=put(flight.carry, name, lambda old: old[:-1]))
            continue
        for wrong in wrong_shapes(leaf):
            refused_by_name(flight, f"carry.{name}", wrong, carry=put(flight.carry, name, lambda _, w=wrong: w))


@pytest.mark.parametrize("kind", [str, complex, object, "datetime64[s]"])
def test_a_type_of_the_view_is_refused_by_name(flight: Flight, kind: Any):
    for name, leaf in leaves(flight.view):
        wrong = np.zeros(np.shape(leaf), kind)
        refused_by_name(flight, f"view.{name}", wrong, view=put(flight.view, name, lambda _, w=wrong: w))
    refused_by_name(flight, "heard.mask", 0, view=put(flight.view, "heard.mask", lambda mask: mask.astype(int)))


def test_whole_numbers_are_numbers(flight: Flight):
    for name in ("goal.pos_m", "own.vel_m_s"):
        as_double = put(flight.view, name, lambda leaf: np.zeros_like(leaf))
        as_whole = put(flight.view, name, lambda leaf: np.zeros(np.shape(leaf), int))
        found, wanted = (flight.step(view=view)[1].command for view in (as_whole, as_double))
        np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_a_pilot_without_rules_or_memory_is_checked_too():
    pilot: Pilot = load_pilot("navigation")
    view = at(read_golden(pilot.policy.bundle).views, (0, 0, 0))
    with pytest.raises(ValueError, match=r"view\.goal\.quat_wxyz has the shape \(3,\); it must be \(4,\)\."):
        pilot.step(pilot.init(view), put(view, "goal.quat_wxyz", lambda quat: quat[:3]))
