"""The graph of a TorchScript module as a pure function: buffers that it writes go in and come out."""

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from robomarl.core.config import UserError
from robomarl.core.types import Array
from robomarl.lab.foreign.aten import OPERATORS
from robomarl.lab.foreign.policy import Memory

WRITES = ("aten::copy_", "aten::fill_", "aten::zero_")
PASSES = ("prim::unchecked_cast", "aten::detach", "aten::alias")
"""Operators that return their input."""
Script = Any
"""A module, a graph, a block or a node of `torch.jit`, which need not be installed."""
Value = Any
"""Value of TorchScript: arrays, numbers, words, lists of such, and modules."""


def _unpacked(items: Sequence[Value]) -> Value:
    return tuple(items) if len(items) > 1 else items[0]


CONTAINERS: dict[str, Callable[..., Value]] = {
    **dict.fromkeys(PASSES, lambda x: x),
    "prim::ListConstruct": lambda *items: list(items),
    "prim::ListUnpack": _unpacked,
    "prim::TupleConstruct": lambda *items: items,
    "prim::TupleIndex": lambda items, i: items[i],
    "prim::TupleUnpack": _unpacked,
    "prim::Uninitialized": lambda: None,
}
"""Operators of the language itself."""


class ScriptGraph:
    """`forward` of a module for one robot. Known while it is read: shapes, and so which way each `if` goes."""

    def __init__(self, module: Script, where: str) -> None:
        """Find the memory: the buffers that `forward` writes.

        Args:
            module: a `torch.jit.ScriptModule`.
            where: its file, for errors.

        Raises:
            UserError: `forward` does not take exactly the observation, or writes into something that is no
                buffer.
        """
        self._module, self._where = module, where
        self._graph = module.inlined_graph
        self._self, *inputs = (i.debugName() for i in self._graph.inputs())
        if len(inputs) != 1:
            self._refuse(f"forward takes {len(inputs)} arguments and not the observation alone")
        self._input = inputs[0]
        self.memory: dict[str, tuple[int, ...]] = {}
        """Shape of each buffer that `forward` writes, by dotted name."""
        self._buffers = {name: tuple(buffer.shape) for name, buffer in module.named_buffers()}
        self._written(self._graph)

    def apply(self, memory: Memory, x: Array) -> tuple[Memory, Array]:
        """See `ForeignPolicy.apply`."""
        run = _Run(self._module, dict(zip(self.memory, memory, strict=True)), self._where)
        known = {self._self: self._module, self._input: jnp.reshape(x, (1, -1))}
        run.places[self._self] = ""
        run.block(self._graph, known)
        (output,) = (known[o.debugName()] for o in self._graph.outputs())
        if not hasattr(output, "shape"):
            self._refuse("forward returns more than the action")
        return tuple(jnp.reshape(run.state[n], s) for n, s in self.memory.items()), jnp.reshape(output, (-1,))

    def _written(self, block: Script) -> None:
        """Note every buffer that is written, by the way that leads to it from the module."""
        for node in block.nodes():
            for inner in node.blocks():
                self._written(inner)
            if node.kind() in WRITES:
                name = _way(next(iter(node.inputs())).node())
                if name not in self._buffers:
                    self._refuse("forward writes into something that is no buffer")
                self.memory.setdefault(name, self._buffers[name])

    def _refuse(self, why: str) -> None:
        raise UserError(f"{self._where}: {why}; export the policy as ONNX instead.")


def _way(node: Script) -> str:
    """Dotted name of the attribute that a value is, or is a part of; empty where it is none."""
    parts = []
    while node.kind() in ("aten::slice", "aten::select", *PASSES):
        node = next(iter(node.inputs())).node()
    while node.kind() == "prim::GetAttr":
        parts.append(node.s("name"))
        node = next(iter(node.inputs())).node()
    return ".".join(reversed(parts))


class _Run:
    """One pass through the graph."""

    def __init__(self, module: Script, state: dict[str, Array], where: str) -> None:
        self._module, self.state, self._where = module, state, where
        self.places: dict[str, str] = {}
        """Dotted name of the module that a value is."""

    def block(self, block: Script, known: dict[str, Value]) -> None:
        for node in block.nodes():
            outputs = [o.debugName() for o in node.outputs()]
            found = self._node(node, known)
            if len(outputs) == 1:
                found = (found,)
            known.update(zip(outputs, found or (), strict=False))

    def _node(self, node: Script, known: dict[str, Value]) -> Value:
        kind = node.kind()
        inputs = [known[i.debugName()] for i in node.inputs()]
        if kind == "prim::Constant":
            return _plain(node.output().toIValue())
        if kind == "prim::GetAttr":
            return self._attribute(node, inputs[0])
        if kind == "prim::If":
            branch = list(node.blocks())[0 if self._is_true(inputs[0]) else 1]
            self.block(branch, known)
            found = tuple(known[o.debugName()] for o in branch.outputs())
            return found[0] if len(found) == 1 else found
        if kind in WRITES:
            return self._write(node, inputs)
        return self._call(kind, inputs)

    def _call(self, kind: str, inputs: list[Value]) -> Value:
        if kind in CONTAINERS:
            return CONTAINERS[kind](*inputs)
        if kind == "prim::RaiseException":
            self._refuse(f"forward raises {inputs[0]!r} for one robot")
        name = kind.partition("::")[2]
        if (rule := OPERATORS.get(name) or OPERATORS.get(name.rstrip("_"))) is None:
            self._refuse(f"uses {kind!r}, which import can't translate")
        try:
            return rule(*inputs)  # type: ignore[misc]
        except (TypeError, ValueError, IndexError) as error:
            self._refuse(f"{kind} can't be translated ({str(error).splitlines()[0][:120]})")

    def _attribute(self, node: Script, owner: Script) -> Value:
        name = node.s("name")
        before = self.places.get(next(iter(node.inputs())).debugName(), "")
        place = f"{before}.{name}" if before else name
        self.places[node.output().debugName()] = place
        return self.state[place] if place in self.state else _plain(getattr(owner, name))

    def _write(self, node: Script, inputs: list[Value]) -> Value:
        name, kind = _way(next(iter(node.inputs())).node()), node.kind()
        target, shape = inputs[0], self.state[name].shape
        if tuple(target.shape) != tuple(shape):
            self._refuse(f"forward writes into a part of {name}")
        value = 0.0 if kind == "aten::zero_" else inputs[1]
        self.state[name] = jnp.broadcast_to(jnp.asarray(value, jnp.float32), shape)
        return self.state[name]

    def _is_true(self, value: Value) -> bool:
        try:
            return bool(value)
        except Exception:  # jax has several for a value that is not known while it traces
            self._refuse("forward goes another way for other observations")
            raise

    def _refuse(self, why: str) -> None:
        raise UserError(f"{self._where}: {why}; export the policy as ONNX instead.")


def _plain(value: Value) -> Value:
    """Return tensors, alone or in lists, as numpy arrays; other values are returned unchanged."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return np.asarray(value.detach().cpu().float().numpy()) if hasattr(value, "detach") else value
