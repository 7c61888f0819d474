"""`Policy`: a bundle's network on the robot, with numpy and onnxruntime only.

`policy(carry, obs) -> (carry, action)` is the signature of training and of the graph; memory is passed, never
hidden. An observation or memory that is not finite gives an action of NaN, in its row only: the safety filter
brakes on it. (The graph alone would not: its clip and its squash turn infinity into a plausible command.)
"""

import math
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np

from robomarl.core.bundle import golden
from robomarl.core.bundle.bundle import POLICY_FILE, Bundle, graph_kind, load_bundle
from robomarl.core.bundle.contract import Contract
from robomarl.core.bundle.onnx_check import check_onnx
from robomarl.core.config import UserError
from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.core.types import PhysicalAction

PolicyCarry = tuple[np.ndarray, ...]
"""One float32 array [..., *shape] for every memory of the network; empty for a feed-forward one."""


class GraphNode(Protocol):
    """An input or output of a graph; the batch is the first axis of its shape."""

    name: str
    shape: list[int]
    type: str


class GraphBinding(Protocol):
    """Buffers that a session reads and writes; (name, device, its number, type, shape, address) binds one."""

    bind_input: Callable[[str, str, int, type, tuple[int, ...], int], None]
    bind_output: Callable[[str, str, int, type, tuple[int, ...], int], None]


class GraphSession(Protocol):
    """Part of `onnxruntime.InferenceSession` that this package uses; onnxruntime has no types."""

    get_inputs: Callable[[], list[GraphNode]]
    get_outputs: Callable[[], list[GraphNode]]
    run: Callable[[list[str] | None, dict[str, np.ndarray]], list[np.ndarray]]
    io_binding: Callable[[], GraphBinding]
    run_with_iobinding: Callable[[GraphBinding], None]


class Policy:
    """A network that has been checked against its contract. Made by `load_policy`."""

    def __init__(self, bundle: Bundle) -> None:
        """Open the graph.

        Raises:
            UserError: the graph is broken, a weight is no number, or it is not the graph of the contract.
        """
        self.contract: Contract = bundle.contract
        self.id: str = bundle.id
        self.bundle = bundle
        self.name: str = self.contract.name
        self.scenario_name: str = self.contract.scenario.name
        self.vehicle_name: str = self.contract.vehicle.name
        self.observation: ObservationSpec = self.contract.observation.spec
        self.action: ActionSpec = self.contract.action
        self._num_obs = self.observation.size
        self._shapes = [c.shape for c in self.contract.policy_carries]
        self._session = open_session(bundle.files[POLICY_FILE])
        check_graph(self._session, self.contract)
        self._inputs = [i.name for i in self._session.get_inputs()]
        single = _SingleRobot(self._session, self._num_obs, self.action.size, self._shapes)
        self._single = _SequencePlayer(single) if self.contract.actions_each > 1 else single

    def init(self, batch: tuple[int, ...] = ()) -> PolicyCarry:
        """The memory before the first decision: zeros, with leading axes `batch`."""
        return tuple(np.zeros((*batch, *shape), np.float32) for shape in self._shapes)

    def __call__(self, carry: PolicyCarry, obs: np.ndarray) -> tuple[PolicyCarry, PhysicalAction]:
        """Make one decision.

        Args:
            carry: memory that the previous decision returned, or `init`.
            obs: [..., O] float32.

        Returns:
            The next carry, and the action [..., A] in physical units; NaN in rows with input that was not
            finite. Environments of other libraries take [-1, 1]: `policy.action.to_unit(action)`.
        """
        decide = self._single if obs.shape == (self._num_obs,) else self._batch
        carry, action = decide(carry, obs)
        return carry, action.view(PhysicalAction)

    def _batch(self, carry: PolicyCarry, obs: np.ndarray) -> tuple[PolicyCarry, np.ndarray]:
        if obs.shape[-1:] != (self._num_obs,):
            raise ValueError(f"obs has shape {obs.shape}; the last axis must be {self._num_obs}.")
        lead = obs.shape[:-1]
        rows = [np.ascontiguousarray(obs, np.float32).reshape(-1, self._num_obs)]
        rows += [np.ascontiguousarray(c, np.float32).reshape(-1, *s) for c, s in zip(carry, self._shapes, strict=True)]
        action, *memory = self._session.run(None, dict(zip(self._inputs, rows, strict=True)))
        for row in rows:
            action[~np.isfinite(row).all(tuple(range(1, row.ndim)))] = np.nan
        kept = tuple(m.reshape(*lead, *s) for m, s in zip(memory, self._shapes, strict=True))
        return kept, action.reshape(*lead, -1)


class _SingleRobot:
    """The path of one robot: buffers that are bound once, so that a decision allocates next to nothing."""

    def __init__(self, session: GraphSession, num_obs: int, num_actions: int, shapes: list[tuple[int, ...]]) -> None:
        self._session = session
        self._in = [np.zeros((1, num_obs), np.float32), *(np.zeros((1, *s), np.float32) for s in shapes)]
        self._out = [np.zeros((1, num_actions), np.float32), *(np.zeros((1, *s), np.float32) for s in shapes)]
        self._sums = [(array.reshape(-1), np.ones(array.size, np.float32)) for array in self._in]
        self._binding = session.io_binding()
        for node, array in zip(session.get_inputs(), self._in, strict=True):
            self._binding.bind_input(node.name, "cpu", 0, np.float32, array.shape, array.ctypes.data)
        for node, array in zip(session.get_outputs(), self._out, strict=True):
            self._binding.bind_output(node.name, "cpu", 0, np.float32, array.shape, array.ctypes.data)

    def __call__(self, carry: PolicyCarry, obs: np.ndarray) -> tuple[PolicyCarry, np.ndarray]:
        for buffer, value in zip(self._in, (obs, *carry), strict=True):
            buffer[0] = value
        self._session.run_with_iobinding(self._binding)
        action = self._out[0][0].copy()
        # A sum is finite only if every element is, and this is its fastest spelling: `vdot` does not warn either.
        for flat, ones in self._sums:
            if not math.isfinite(np.vdot(flat, ones)):
                action[:] = np.nan
        return tuple(buffer[0].copy() for buffer in self._out[1:]), action


class _SequencePlayer:
    """One robot's sequence of actions, as the graph plays it; the graph is asked only where no action is left."""

    def __init__(self, ask: _SingleRobot) -> None:
        self._ask = ask

    def __call__(self, carry: PolicyCarry, obs: np.ndarray) -> tuple[PolicyCarry, np.ndarray]:
        pending, left, *own = carry
        if left[0] < 0.5 or not all(np.isfinite(array).all() for array in (obs, *carry)):
            return self._ask(carry, obs)
        return (np.concatenate([pending[1:], np.zeros_like(pending[:1])]), left - 1, *own), pending[0].copy()


def load_policy(name_or_dir: str | Path, check_golden: bool = True) -> Policy:
    """Read a bundle, check it, open it, and replay its golden sequences.

    Args:
        name_or_dir: name of a bundle in `policies/`, or the path of its folder.
        check_golden: replay the sequences: some ten milliseconds.

    Raises:
        UserError: as `load_bundle`; or the policy acts differently here, by element.
    """
    return open_policy(load_bundle(name_or_dir), check_golden)


def open_policy(bundle: Bundle, check_golden: bool = True) -> Policy:
    """The policy of a bundle that has been read; see `load_policy`."""
    policy = Policy(bundle)
    if check_golden:
        for deviation in golden.check_policy(policy, read_golden(bundle)):
            if not deviation.ok:
                raise UserError(
                    f"{bundle.folder}: {deviation}; this machine does not run what was trained, don't fly it."
                )
    return policy


def read_golden(bundle: Bundle) -> golden.Golden:
    """The golden sequences of a bundle.

    Raises:
        UserError: the file is broken or of another policy.
    """
    sequences = golden.from_bytes(bundle.files["golden.npz"])
    golden.check_shapes(sequences, bundle.contract.observation.spec, bundle.contract.action)
    return sequences


def open_session(graph: bytes, file: str = POLICY_FILE) -> GraphSession:
    """An onnxruntime session on one thread that never spins: the control loop owns the processor.

    Args:
        graph: the content of an ONNX file.
        file: its name in the bundle, which says what it may hold; see `graph_kind`.

    Raises:
        UserError: onnxruntime can't read the graph, or it is not one that may be in a bundle.
    """
    onnxruntime = import_module("onnxruntime")  # it takes 0.1 s, and has no types
    check_onnx(graph, file, graph_kind(file))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    options.log_severity_level = 4
    # Finding buffers to use again takes a time that grows with the square of the graph: 1 s of policy_filtered.onnx.
    options.enable_mem_reuse = False
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no common type of their own
        raise UserError(f"{file}: onnxruntime can't open it ({str(error).splitlines()[0]}).") from None


def check_graph(session: GraphSession, contract: Contract) -> None:
    """Compare the graph's inputs and outputs with the contract.

    Raises:
        UserError: a name, type or size differs.
    """
    carries = contract.policy_carries
    sizes = [("obs", "action", (contract.observation.spec.size,), (contract.action.size,))]
    sizes += [(f"carry.{c.name}", f"next.{c.name}", c.shape, c.shape) for c in carries]
    for nodes, wanted in (
        (session.get_inputs(), [(name, shape) for name, _, shape, _ in sizes]),
        (session.get_outputs(), [(name, shape) for _, name, _, shape in sizes]),
    ):
        found = [(node.name, tuple(node.shape[1:])) for node in nodes]
        if found != wanted or any(node.type != "tensor(float)" for node in nodes):
            raise UserError(f"{POLICY_FILE}: has {found}, but bundle.json says {wanted}; export the bundle anew.")
