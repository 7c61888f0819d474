"""The graph that holds policy and safety filter: `policy_filtered.onnx`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.bundle.filtered import leaves
from robomarl.core.domain.onboard import as_it_is
from robomarl.core.filter.filter import SafetyParams
from robomarl.core.filter.memory import LARGE
from robomarl.core.types import Array
from robomarl.core.view import blank_view
from robomarl.lab.export.graph import ArrayFunction, needed
from robomarl.lab.jax_filter.static import make_static_filter
from robomarl.lab.trees import Tree

PolicyFn = Callable[[tuple, jax.Array], tuple[tuple, jax.Array]]
Step = Callable[[dict[str, Array]], tuple[jax.Array, ...]]


class Shapes(NamedTuple):
    """Sizes of the graph's inputs."""

    num_obs: int
    """O, length of the observation."""
    num_mates: int
    """K, most team-mates of a robot."""
    carries: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    """Shapes of the policy's memory by name, without the batch axis."""


def filtered_function(
    policy_fn: PolicyFn, shapes: Shapes, params: SafetyParams, around: Callable = as_it_is
) -> ArrayFunction:
    """Return policy and filter as a function of arrays; `robomarl.core.bundle.filtered` documents its inputs and
    outputs.

    Args:
        policy_fn: (carry, obs [B, O]) -> (carry, action [B, A]), pure.
        shapes: sizes of the inputs.
        params: parameters of the filter.
        around: how actions go through the filter; see `robomarl.core.domain.onboard.Command.around`.
    """
    safety, view = make_static_filter(params, around=around), blank_view(shapes.num_mates, batch=(1,))
    memory, seen = safety.init((1,)), dict(leaves(view, ""))
    obs = {"obs": np.zeros((1, shapes.num_obs), np.float32)}
    state = {f"carry.{name}": np.zeros((1, *shape), np.float32) for name, shape in shapes.carries.items()}
    state |= dict(leaves(memory, "safety"))

    def step(given: dict[str, Array]) -> tuple[jax.Array, ...]:
        carry = tuple(given[f"carry.{name}"] for name in shapes.carries)
        after, action = policy_fn(carry, given["obs"])
        # As `Policy` does: what squashes would turn infinity into a plausible command.
        fine = jnp.stack([_finite(x) for x in (given["obs"], *carry)]).all(0)
        nominal = jnp.where(fine[:, None], action, jnp.nan)
        kept, result = safety(_fill(memory, "safety", given), _fill(view, "", given), nominal)
        ok = result.solved & _finite(result.command)
        return (result.command, ok, result.reason, nominal, *after, *(leaf for _, leaf in leaves(kept, "")))

    arrays = obs | {name: seen[name] for name in _read(step, seen, obs | state)} | state
    outputs = ["command", "ok", "reason", "action", *(f"next.{name.removeprefix('carry.')}" for name in state)]
    sizes = {name: array.shape[1:] for name, array in arrays.items()}
    return ArrayFunction(
        lambda *values: step({**seen, **dict(zip(arrays, values, strict=True))}),
        sizes,
        outputs,
        {name: str(array.dtype) for name, array in arrays.items()},
    )


def _finite(array: jax.Array) -> jax.Array:
    return (jnp.abs(array) < LARGE).reshape(array.shape[0], -1).all(-1)


def _read(step: Step, seen: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> list[str]:
    """Return the names of the view's arrays that the filter reads."""
    names = list(seen)
    jaxpr = jax.make_jaxpr(lambda *values: step({**others, **dict(zip(names, values, strict=True))}))(*seen.values())
    used = needed(jaxpr.jaxpr)[1]
    return [name for name, var in zip(names, jaxpr.jaxpr.invars, strict=True) if var in used]


def _fill(tree: Tree, prefix: str, arrays: dict[str, Array]) -> Tree:
    """Nested NamedTuples with the arrays of these names."""
    if not hasattr(tree, "_fields"):
        return arrays.get(prefix, tree)
    dot = "." if prefix else ""
    return type(tree)(*(_fill(getattr(tree, f), f"{prefix}{dot}{f}", arrays) for f in tree._fields))
