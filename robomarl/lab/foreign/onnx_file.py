"""A policy from an ONNX file of any exporter: read as a bundle's graph is, and computed in JAX operator by operator."""

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import onnx

from robomarl.core.bundle.onnx_check import DOMAINS, VISION_OPERATORS, Kind, check_onnx
from robomarl.core.bundle.onnx_check import OPERATORS as POLICY_OPERATORS
from robomarl.core.config import UserError
from robomarl.core.types import Array
from robomarl.lab.foreign.checkpoint.guard import library_errors
from robomarl.lab.foreign.contract_file import ContractFile
from robomarl.lab.foreign.graph.metadata import check_metadata
from robomarl.lab.foreign.graph.ports import COUNTER, Ports, find_ports
from robomarl.lab.foreign.graph.session import in_onnxruntime
from robomarl.lab.foreign.graph.shapes import InputShapes, shapes_of
from robomarl.lab.foreign.graph.single import in_single, is_single
from robomarl.lab.foreign.onnx_operators import OPERATORS
from robomarl.lab.foreign.policy import ForeignPolicy, Memory
from robomarl.lab.foreign.vision.refused import pictures_refused
from robomarl.lab.onnx_graph import Operation, ancestors, constants, operations


def read_onnx(file: Path, contract: ContractFile | None = None) -> ForeignPolicy:
    """Read an ONNX file. Observation, action and memory are found by name (see `find_ports`).

    Weights of half or double precision are computed in single precision, in the bundle and in its
    reference, because onnxruntime lacks most operators in other precisions.

    Args:
        file: the file.
        contract: may name facts that the file does not state; without it only known names count.

    Raises:
        UserError: the file has contents not allowed in a bundle, an operator that is not translated,
            memory that does not come back, or metadata that disagree with the contract.
    """
    where, contract = str(file), contract or ContractFile("")
    model, content = checked(file.read_bytes(), where)
    check_metadata({p.key: p.value for p in model.metadata_props}, contract, where)
    ports = find_ports(model, contract, where)
    _check_operators(model, ports, file)
    shapes = shapes_of(model, ports, where)
    return ForeignPolicy(
        framework=f"onnxruntime, {model.producer_name or 'unknown exporter'} {model.producer_version}".strip(),
        memory=tuple(shapes.one[name] for name in ports.memory),
        apply=_Graph(model, ports, shapes, where).apply,
        reference=in_onnxruntime(content, ports, shapes, where),
        num_inputs=shapes.num_inputs,
    )


def checked(content: bytes, where: str, kind: Kind = "policy") -> tuple[onnx.ModelProto, bytes]:
    """Return the model in single precision and its content, after `check_onnx` has accepted it.

    Domains in the file's list that no node uses are removed from it: tf2onnx names `ai.onnx.ml`.

    Args:
        content: the content of an ONNX file.
        where: its name, for errors.
        kind: as in `check_onnx`.

    Raises:
        UserError: it is no sound ONNX file of this kind.
    """
    with library_errors(f"{where}: is no sound ONNX file", "export the policy anew, or fetch the file again"):
        model = onnx.load_from_string(content)
    if not model.graph.node:
        raise UserError(f"{where}: is no sound ONNX file, for there is no operator in it; export the policy anew.")
    reads_pictures = any(len(port.type.tensor_type.shape.dim) == 4 for port in model.graph.input)
    for node in model.graph.node:
        if kind == "policy" and reads_pictures and node.op_type in VISION_OPERATORS - POLICY_OPERATORS:
            raise pictures_refused(where, f"operator {node.op_type}")
        if node.domain not in DOMAINS:
            name = node.name or node.output[0]
            raise UserError(
                f"{where}: the node {name!r} uses operators of {node.domain!r} ({node.op_type!r}); a bundle has "
                "ONNX's own only: export the policy without it."
            )
    kept = [opset for opset in model.opset_import if opset.domain in DOMAINS]
    del model.opset_import[:]
    model.opset_import.extend(kept)
    if not is_single(model):
        with library_errors(f"{where}: its weights can't be made single precision", "export it in single precision"):
            in_single(model)
    content = model.SerializeToString()
    try:
        check_onnx(content, where, kind)
    except UserError as error:
        if "lies in another file" in str(error):
            raise UserError(f"{error} With PyTorch: torch.onnx.export(..., external_data=False).") from None
        raise
    return model, content


def _check_operators(model: onnx.ModelProto, ports: Ports, file: Path) -> None:
    needed = ancestors(model, [ports.action, *ports.memory.values()])
    for node in model.graph.node:
        if node.op_type not in OPERATORS and needed & {*node.output}:
            known = "dense, recurrent and normalizing layers"
            raise UserError(
                f"{file}: uses the operator {node.op_type!r}, which import can't translate; export {known}."
            )


class _Graph:
    """The graph as a function."""

    def __init__(self, model: onnx.ModelProto, ports: Ports, shapes: InputShapes, where: str) -> None:
        needed = ancestors(model, [ports.action, *ports.memory.values()])
        self._weights = {name: array for name, array in constants(model).items() if name in needed}
        self._operations = [operation for operation in operations(model) if needed & {*operation.outputs}]
        self._ports, self._shapes, self._where = ports, shapes, where

    def apply(self, memory: Memory, x: Array) -> tuple[Memory, Array]:
        """See `ForeignPolicy.apply`."""
        ports, shapes = self._ports, self._shapes
        known: dict[str, Array] = {"": None, **self._weights}
        known |= {name: np.zeros(shapes.one[name], shapes.types[name]) for name in ports.zeros}
        for name, value in zip((ports.observation, *ports.memory), (x, *memory), strict=True):
            known[name] = jnp.reshape(value, shapes.one[name]).astype(_in_jax(shapes.types[name]))
        for operation in self._operations:
            self._run(operation, known)
        return tuple(map(self._next, ports.memory.items(), memory, [known] * len(memory))), known[ports.action].reshape(
            -1
        )

    def _run(self, operation: Operation, known: dict[str, Array]) -> None:
        op, inputs, outputs, attributes = operation
        try:
            found = OPERATORS[op](attributes, *(known[name] for name in inputs))
        except (TypeError, ValueError, KeyError, IndexError) as error:
            why = str(error).splitlines()[0][:120] if str(error) else "no reason"
            raise UserError(
                f"{self._where}: {op} can't be translated ({why}); export dense and recurrent layers only."
            ) from None
        known.update(zip(outputs, found if isinstance(found, tuple) else (found,), strict=False))

    def _next(self, pair: tuple[str, str], before: Array, known: dict[str, Array]) -> Array:
        """The memory after a decision; a counter stays at 2^24, which is over 90 hours of 50 Hz."""
        name, becomes = pair
        if becomes == COUNTER:
            return before + 1
        value, shape = jnp.asarray(known[becomes]), self._shapes.one[name]
        if value.shape != shape:
            raise UserError(f"{self._where}: memory {becomes!r} comes back as {value.shape} and goes in as {shape}.")
        return value.astype(np.float32)


def _in_jax(kind: np.dtype) -> np.dtype:
    """JAX computes in 32 bits."""
    return np.dtype({"f": np.float32, "i": np.int32, "u": np.uint32}.get(kind.kind, kind))
