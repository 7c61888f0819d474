"""The graph that holds policy and safety filter: `policy_filtered.onnx`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.bundle.filtered import leaves
from robomarl.core.domain.onboard import as_it_is
from robomarl.core.domain.registry import command_of
from robomarl.core.filter.filter import SafetyParams, initial_carry
from robomarl.core.filter.memory import LARGE, FilterCarry
from robomarl.core.spec import ActionSpec
from robomarl.core.types import Array
from robomarl.core.view import LocalView, blank_view
from robomarl.lab.export.graph import needed, to_onnx
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


def has_graph(params: SafetyParams, action: ActionSpec) -> bool:
    """Return True if the bundle has such a graph: no strangers to sense, and a kind of command that supports it."""
    return params.strangers is None and command_of(action).around is not None


def filtered_graph(policy_fn: PolicyFn, shapes: Shapes, params: SafetyParams, around: Callable = as_it_is) -> bytes:
    """Return the graph of policy and filter; `robomarl.core.bundle.filtered` documents its inputs and
    outputs.

    Args:
        policy_fn: (carry, obs [B, O]) -> (carry, action [B, A]), pure.
        shapes: sizes of the inputs.
        params: parameters of the filter.
        around: how actions go through the filter; see `robomarl.core.domain.onboard.Command.around`.
    """
    view, memory = blank_view(shapes.num_mates, batch=(1,)), initial_carry(params, (1,), np, "float32")
    obs = {"obs": np.zeros((1, shapes.num_obs), np.float32)}
    state = {f"carry.{name}": np.zeros((1, *shape), np.float32) for name, shape in shapes.carries.items()}
    state |= dict(leaves(memory, "safety"))
    seen = dict(leaves(view, ""))
    step = _step(policy_fn, make_static_filter(params, around=around), tuple(shapes.carries), (view, memory))
    arrays = obs | {name: seen[name] for name in _read(step, seen, obs | state)} | state

    def function(*values: jax.Array) -> tuple[jax.Array, ...]:
        return step({**seen, **dict(zip(arrays, values, strict=True))})

    outputs = ["command", "ok", "reason", "action", *(f"next.{name.removeprefix('carry.')}" for name in state)]
    sizes = {name: array.shape[1:] for name, array in arrays.items()}
    return to_onnx(function, sizes, outputs, {name: str(array.dtype) for name, array in arrays.items()})


def _step(policy_fn: PolicyFn, safety: Callable, names: tuple[str, ...], trees: tuple[LocalView, FilterCarry]) -> Step:
    """One decision as a function of named arrays [B, ...]; `names` are those of the policy's memory, and `trees` give
    view and the filter's memory their form."""

    def step(given: dict[str, Array]) -> tuple[jax.Array, ...]:
        carry = tuple(given[f"carry.{name}"] for name in names)
        after, action = policy_fn(carry, given["obs"])
        # As `Policy` does: what squashes would turn infinity into a plausible command.
        fine = jnp.stack([_finite(x) for x in (given["obs"], *carry)]).all(0)
        nominal = jnp.where(fine[:, None], action, jnp.nan)
        view, memory = _fill(trees[0], "", given), _fill(trees[1], "safety", given)
        kept, result = safety(memory, view, nominal)
        ok = result.solved & _finite(result.command)
        return (result.command, ok, result.reason, nominal, *after, *(leaf for _, leaf in leaves(kept, "")))

    return step


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
