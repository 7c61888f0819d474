"""`constants.h` and the copy of the constants follow the Python classes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.filter import kernel
from robomarl.core.filter.kernel import layout
from robomarl.core.filter.kernel.build import CONSTANTS
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.filter.model.constants import constants_of
from robomarl.core.types import Array
from tests.core.filter.views import PARAMS

needs_kernel = pytest.mark.skipif(not kernel.usable(), reason="the C kernel is not built here")


def test_the_header_is_what_the_classes_say():
    """`python -m robomarl.core.filter.kernel.layout` writes it."""
    assert (Path(layout.__file__).parent / CONSTANTS).read_text() == layout.header()


@needs_kernel
def test_every_field_of_the_constants_is_copied():
    params = replace(
        PARAMS,
        obstacles=(
            Obstacle("box", (1.0, 2.0, 0.5), to_m=(2.0, 3.0, 1.0)),
            Obstacle("sphere", (3.0, 3.0, 0.0), radius_m=0.2),
        ),
        safety=replace(PARAMS.safety, clearance_m=0.2),
    )
    constants = constants_of(params)
    copy: tuple[Array, list[object]] = layout.copied(kernel.load().ffi, constants)  # type: ignore[assignment]
    struct, kept = copy
    assert struct.num_solids == 2 and len(kept) == 1 + len(constants.queue)
    assert_equal_fields(struct, constants)
    for i, solid in enumerate(constants.solids):
        assert_equal_fields(struct.solids[i], solid)
    for name, stretches in constants.queue._asdict().items():
        assert [getattr(struct, f"queue_{name}")[k] for k in range(struct.num_queue)] == list(stretches), name


def assert_equal_fields(struct: Array, source: Array) -> None:
    for name in set(source._fields) - {"mode", "solids", "queue"}:
        value, copy = getattr(source, name), getattr(struct, name)
        assert getattr(struct, f"has_{name}", value is not None) == (value is not None), name
        if isinstance(value, layout.STRUCTS):
            assert_equal_fields(copy, value)
        elif value is not None:
            assert np.array_equal(np.array(value, float), np.array(numbers(copy), float)), name


def numbers(copy: Array) -> Array:
    """Numbers and arrays of C as lists."""
    return [numbers(part) for part in copy] if hasattr(copy, "__len__") else copy
