"""Bodies in the view that do not run the filter."""

from typing import NamedTuple

from robomarl.core.config import UserError
from robomarl.core.filter.model.constants import Constants
from robomarl.core.types import Array
from robomarl.core.view import LocalView


class Strangers(NamedTuple):
    """Opponents, people, unknown robots; [..., S] is how many the view has room for."""

    mask: Array
    """[..., S] bool: this row holds one that was seen."""
    pos_m: Array
    """[..., S, 3] its position when it was seen, world."""
    vel_m_s: Array
    """[..., S, 3] its velocity then, world."""
    age_s: Array
    """[..., S] time since then."""


def strangers_in(c: Constants, view: LocalView) -> Strangers | None:
    """Return the fields `strangers_mask`, `strangers_pos_m`, `strangers_vel_m_s`, `strangers_age_s` of
    `view.sensed`.

    Raises:
        UserError: there are such fields, and the parameters have no assumptions about strangers; or the
            reverse. That is a mistake of the set-up, found at the first decision.
    """
    sensed, known = view.sensed, c.strangers is not None
    if hasattr(sensed, "strangers_pos_m") == known:
        return Strangers(*(getattr(sensed, f"strangers_{name}") for name in Strangers._fields)) if known else None
    if known:
        raise UserError("strangers is set in the safety parameters, but the view does not sense any; unset it.")
    raise UserError(
        "strangers is unset in the safety parameters, but the view senses some; say what to assume of them."
    )
