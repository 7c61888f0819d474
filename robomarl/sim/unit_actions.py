"""`check_unit`: what an environment with actions in [-1, 1] is given is such an action, and no command in SI units."""

from typing import Any

import numpy as np
from jax.core import Tracer

from robomarl.spec import ActionSpec
from robomarl.types import PhysicalAction

ROUNDING = 1e-4
"""Beyond 1, of trainers that squash in single precision."""


def check_unit(spec: ActionSpec, action: Any) -> None:
    """Check an action [..., A]; inside a compiled function only its shape is known, and values are cut off there.

    Raises:
        ValueError: it is in physical units, has another length, or a value that is outside [-1, 1] or no number.
    """
    mend = "policy.action.to_unit(action) makes it of what a bundle or run commands"
    if isinstance(action, PhysicalAction):
        raise ValueError(f"the action is in physical units, and this environment takes [-1, 1]: {mend}.")
    if np.shape(action)[-1:] != (spec.size,):
        raise ValueError(f"the action has shape {np.shape(action)}; its last axis must be {spec.size}.")
    if isinstance(action, Tracer):
        return
    values = np.asarray(action).reshape(-1, spec.size)
    bad = np.argwhere(~(np.abs(values) <= 1 + ROUNDING))
    if len(bad):
        row, element = bad[0]
        name, value = spec.fields[element].name, values[row, element]
        raise ValueError(f"{name} of the action is {value:g}, and this environment takes [-1, 1]: {mend}.")
