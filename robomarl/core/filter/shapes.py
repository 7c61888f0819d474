"""Check that the arguments of a filter have the shapes that it reads.

Numpy stretches most arrays that are too small silently, and C reads at the given address: a mate's
place that is one number for all axes, or a memory that is shorter than the queue, would be filtered
as if it were right.
"""

from collections.abc import Callable, Iterable
from operator import attrgetter

import numpy as np

from robomarl.core.filter.memory import FilterCarry, initial_carry
from robomarl.core.filter.params import SafetyParams
from robomarl.core.tree import leaves
from robomarl.core.types import Array
from robomarl.core.view import LocalView

Shape = tuple[int, ...]
Shapes = tuple[Shape, ...]
COMMANDED = 4
"""Elements of a command that is filtered: acceleration x, y, z and yaw rate."""
OWN = {"pos_m": (3,), "vel_m_s": (3,), "age_s": ()}
TURNED = {"quat_wxyz": (4,), "omega_rad_s": (3,)}
HEARD = {
    "mask": (),
    "pos_m": (3,),
    "vel_m_s": (3,),
    "age_s": (),
    "plan.pos_m": (3,),
    "plan.vel_m_s": (3,),
    "plan.stop_m": (3,),
}
SEEN = {"mask": (), "pos_m": (3,), "vel_m_s": (3,), "age_s": ()}
"""Fields of a view that are read, with their last axes. TURNED is read of differential drives only.
The axes of HEARD and SEEN come after that of the teammates or strangers."""
SENSED = tuple(f"sensed.strangers_{name}" for name in SEEN)


class ShapeCheck:
    """Compares with the shapes of the last decision that was fine; only others are looked at one by one.

    Args:
        params: of the filter.
    """

    def __init__(self, params: SafetyParams) -> None:
        """Nothing has been seen."""
        self._carry = {name: np.shape(part) for name, part in leaves(initial_carry(params)) if name[:4] != "plan"}
        self._senses = params.strangers is not None
        self._own: dict[str, Shape] = {**OWN, **TURNED} if params.look_ahead_m else OWN
        self._view = (*(f"own.{name}" for name in self._own), *(f"heard.{name}" for name in HEARD))
        # One call of C for all attributes: every decision pays for this.
        self._of_carry, self._of_view = _shapes_of(tuple(self._carry)), _shapes_of(self._view)
        self._of_sensed = _shapes_of(SENSED)
        self._fine: tuple[object, ...] = ()

    def __call__(self, carry: FilterCarry, view: LocalView, nominal: Array, gain_per_s: Array | None) -> None:
        """Check the arguments of a decision.

        Raises:
            ValueError: names an array, its shape, and the one that it must have.
        """
        senses = self._senses and hasattr(view.sensed, "strangers_pos_m")
        try:
            seen = self._of_sensed(view) if senses else ()
            shapes = (self._of_carry(carry), self._of_view(view), nominal.shape, seen)
        except AttributeError:  # a plain number or a list
            shapes = self._slowly(carry, view, nominal, senses)
        gain = None if gain_per_s is None else np.shape(gain_per_s)
        if (*shapes, gain) != self._fine:
            self._look(*shapes, gain)
            self._fine = (*shapes, gain)

    def _slowly(
        self, carry: FilterCarry, view: LocalView, nominal: Array, senses: bool
    ) -> tuple[Shapes, Shapes, Shape, Shapes]:
        def shapes(tree: FilterCarry | LocalView, names: tuple[str, ...]) -> Shapes:
            return tuple(np.shape(attrgetter(name)(tree)) for name in names)

        seen = shapes(view, SENSED) if senses else ()
        return (shapes(carry, tuple(self._carry)), shapes(view, self._view), np.shape(nominal), seen)

    def _look(self, carry: Shapes, view: Shapes, nominal: Shape, sensed: Shapes, gain: Shape | None) -> None:
        """Every array."""
        if not nominal or nominal[-1] != COMMANDED:
            raise ValueError(f"nominal has the shape {nominal}; it must be [..., {COMMANDED}].")
        lead, because = nominal[:-1], f"because nominal is {nominal}"
        _compare("carry.", zip(self._carry, carry, self._carry.values(), strict=True), lead, "as `init` makes it")
        _compare("view.own.", zip(self._own, view, self._own.values(), strict=False), lead, because)
        mask, rest = view[len(self._own)], view[len(self._own) :]
        row = (*lead, mask[-1] if mask else 0)
        _compare("view.heard.", zip(HEARD, rest, HEARD.values(), strict=True), row, f"{because} and heard.mask {mask}")
        if sensed:
            row, why = (*lead, sensed[0][-1] if sensed[0] else 0), f"{because} and strangers_mask {sensed[0]}"
            _compare("view.sensed.strangers_", zip(SEEN, sensed, SEEN.values(), strict=True), row, why)
        if gain is not None:
            _compare("", [("gain_per_s", gain, ())], lead, because)


def _compare(prefix: str, rows: Iterable[tuple[str, Shape, Shape]], lead: Shape, why: str) -> None:
    for name, shape, tail in rows:
        if shape != (*lead, *tail):
            raise ValueError(f"{prefix}{name} has the shape {shape}; it must be {(*lead, *tail)}, {why}.")


def _shapes_of(names: tuple[str, ...]) -> Callable[[FilterCarry | LocalView], Shapes]:
    return attrgetter(*(f"{name}.shape" for name in names))
