"""Wrong shapes and short memories are refused by every backend, with one sentence that names the array."""

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.filter import kernel
from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.memory import initial_carry
from robomarl.core.filter.shapes import ShapeCheck
from robomarl.lab.jax_filter.filter import make_jax_filter
from robomarl.lab.jax_filter.static import make_static_filter
from tests.core.filter.test_vehicles import STRANGERS, VEHICLES, views_for
from tests.core.filter.views import PARAMS, leaves, pick, random_views, replace_leaf

LEADS: dict[str, tuple[int, ...]] = {"one": (), "batch": (5,), "teams": (2, 3)}
READ = [
    *(f"own.{n}" for n in ("pos_m", "vel_m_s", "age_s")),
    *(f"heard.{n}" for n in ("mask", "pos_m", "vel_m_s", "age_s", "plan.pos_m", "plan.vel_m_s", "plan.stop_m")),
]
CARRIED = [name for name, _ in leaves(initial_carry(PARAMS)) if not name.startswith("plan")]


def make(backend: str, params=PARAMS) -> Any:
    """A filter of one of the backends."""
    if backend == "c" and not kernel.usable():
        pytest.skip("the C kernel is not built here")
    made = {"jax": make_jax_filter, "static": make_static_filter}
    return made[backend](params) if backend in made else SafetyFilter(params, backend=backend)  # type: ignore[arg-type]


def given(lead: tuple[int, ...]) -> tuple[Any, Any, np.ndarray]:
    """A decision that is fine."""
    views = random_views(np.random.default_rng(1), int(np.prod(lead)))
    view = pick(views, 0)
    for name, leaf in leaves(views):
        view = replace_leaf(view, name, np.reshape(leaf, (*lead, *np.shape(leaf)[1:])))
    return initial_carry(PARAMS, lead), view, np.zeros((*lead, 4))


def broken(leaf: Any) -> list[np.ndarray]:
    """What numpy would stretch to the right shape, and what it would not."""
    array = np.asarray(leaf)
    found = [array[None], np.concatenate([array, array], -1) if array.ndim else np.zeros(2)]
    if array.ndim:
        found += [array[..., :1], np.asarray(array.flat[0]), array[..., :-1]]
    return [a for a in found if a.shape != array.shape]


@pytest.mark.parametrize("lead", LEADS.values(), ids=LEADS)
@pytest.mark.parametrize("backend", ["numpy", "c", "jax", "static"])
def test_every_array_that_is_read_is_looked_at(backend: str, lead: tuple[int, ...]):
    if backend == "static" and len(lead) != 1:
        pytest.skip("takes batches only")
    safety, (carry, view, nominal) = make(backend), given(lead)
    # What is fine is not refused, nor what comes after it accepted for that.
    (safety if backend in ("numpy", "c") else partial(jax.eval_shape, safety))(carry, view, nominal)
    for name in READ:
        for wrong in broken(dict(leaves(view))[name]):
            with pytest.raises(ValueError, match="has the shape"):
                safety(carry, replace_leaf(view, name, wrong), nominal)
    for name in CARRIED:
        for wrong in broken(dict(leaves(carry))[name]):
            with pytest.raises(ValueError, match=f"carry.{name} has the shape"):
                safety(replace_leaf(carry, name, wrong), view, nominal)
    for wrong in (nominal[..., :3], np.zeros((*lead, 6)), np.asarray(0.0), np.zeros((7, *lead, 4))):
        with pytest.raises(ValueError, match="has the shape"):
            safety(carry, view, wrong)
    with pytest.raises(ValueError, match="gain_per_s has the shape"):
        safety(carry, view, nominal, np.ones((*lead, 3)))


@pytest.mark.parametrize("rows", [0, 1, PARAMS.queue_length - 1, PARAMS.queue_length + 1])
@pytest.mark.parametrize("lead", LEADS.values(), ids=LEADS)
@pytest.mark.parametrize("backend", ["numpy", "c", "jax", "static"])
def test_a_memory_of_another_queue_is_refused(backend: str, lead: tuple[int, ...], rows: int):
    """The kernel read before the array, and said OK."""
    if backend == "static" and len(lead) != 1:
        pytest.skip("takes batches only")
    carry, view, nominal = given(lead)
    queue, must = (*lead, rows, 4), (*lead, PARAMS.queue_length, 4)
    with pytest.raises(ValueError) as error:
        make(backend)(carry._replace(commands=np.zeros(queue)), view, nominal)
    assert str(error.value) == f"carry.commands has the shape {queue}; it must be {must}, as `init` makes it."


@pytest.mark.parametrize("name", ["mask", "pos_m", "vel_m_s", "age_s"])
@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_strangers_are_looked_at_too(backend: str, name: str):
    params = dataclasses.replace(PARAMS, strangers=STRANGERS)
    view = pick(views_for(params, np.random.default_rng(1), 1), 0)
    safety, field = make(backend, params), f"strangers_{name}"
    safety(safety.init(), view, np.zeros(4))
    for wrong in broken(getattr(view.sensed, field)):
        with pytest.raises(ValueError, match="view.sensed.strangers_"):
            safety(safety.init(), view._replace(sensed=view.sensed._replace(**{field: wrong})), np.zeros(4))


@pytest.mark.parametrize("name", ["own.quat_wxyz", "own.omega_rad_s"])
@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_an_attitude_is_looked_at_where_it_is_read(backend: str, name: str):
    """By differential drives; graphs have one for all robots in the place of what is not read."""
    params, (_, view, nominal) = VEHICLES["differential"], given(())
    safety = make(backend, params)
    for wrong in broken(dict(leaves(view))[name]):
        bad = replace_leaf(view, name, wrong)
        with pytest.raises(ValueError, match=f"view.{name} has the shape"):
            safety(safety.init(), bad, nominal)
        ShapeCheck(PARAMS)(*given(())[:1], bad, nominal, None)


def test_a_memory_of_its_own_is_fine_and_no_other():
    """For as many robots as it was made for; and one that was made from it is looked at again."""
    safety, (carry, view, nominal) = make("numpy"), given(())
    after, _ = safety(carry, view, nominal)
    with pytest.raises(ValueError, match="carry.commands has the shape"):
        safety(after, *given((5,))[1:])
    after, _ = safety(after, view, nominal)
    with pytest.raises(ValueError, match="carry.commands has the shape"):
        safety(after._replace(commands=after.commands[1:]), view, nominal)


def test_it_says_what_the_shape_must_be():
    carry, view, nominal = given(())
    place = replace_leaf(view, "heard.vel_m_s", np.zeros(3))
    with pytest.raises(ValueError) as error:
        make("numpy")(carry, place, nominal)
    assert str(error.value) == (
        "view.heard.vel_m_s has the shape (3,); it must be (3, 3), because nominal is (4,) and heard.mask (3,)."
    )


def test_numbers_and_lists_may_stand_for_arrays():
    """As long as their shapes are right."""
    carry, view, nominal = given(())
    check = ShapeCheck(PARAMS)
    check(carry, replace_leaf(view, "own.age_s", 0.0), jnp.asarray(nominal), 1.0)
    check(carry, replace_leaf(view, "own.pos_m", [0.0, 0.0, 1.0]), nominal, None)
    with pytest.raises(ValueError, match=r"view.own.pos_m has the shape \(2,\)"):
        check(carry, replace_leaf(view, "own.pos_m", [0.0, 1.0]), nominal, None)
