"""Golden sequences: inputs and outputs recorded in the training environment, compared with the outputs
on this machine.

S sequences of T decisions of N robots, each from the initial carries. In the file all arrays are
flat and named `view.own.pos_m`, `obs`, `action`, `command`; [S, T, N, ...] each.
"""

import io
import math
import threading
import tokenize
import zipfile
import zlib
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from robomarl.core.bundle.contract import Contract
from robomarl.core.config import UserError
from robomarl.core.domain.registry import filter_for
from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.core.tree import Branch, each, leaves
from robomarl.core.types import Array
from robomarl.core.view import LocalView, blank_view

TOLERANCE = 1e-5
"""Largest difference of an observation or action element, in its own unit: float32 on any processor."""
COMMAND_TOLERANCE = 1e-3
"""Largest difference of a filtered command: where the solver stops differs between processors."""
MAX_ARRAYS, MAX_BYTES = 256, 32 * 2**20
"""Golden files hold less than 1 MiB of arrays."""
_VIEW, _SENSED = "view", "view.sensed."
_READING = threading.Lock()
"""numpy reads an array's header with Python's parser; that of 3.11 fails when the garbage collector, in its middle,
lets another thread parse. Flash verifies robots in threads."""


class Golden(NamedTuple):
    """The sequences."""

    views: LocalView
    """[S, T, N, ...] every field."""
    obs: np.ndarray
    """[S, T, N, O] the training environment's observations."""
    action: np.ndarray
    """[S, T, N, A] the JAX policy's actions on them."""
    command: np.ndarray
    """[S, T, N, A] the safety filter's commands for them."""


class CheckedPolicy(Protocol):
    """Policy with decisions to compare: a `robomarl.core.bundle.runtime.Policy`."""

    observation: ObservationSpec
    action: ActionSpec

    def init(self, batch: tuple[int, ...] = ()) -> tuple[np.ndarray, ...]:
        """Carry before the first decision."""
        ...

    def __call__(self, carry: tuple[np.ndarray, ...], obs: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """(carry, obs [..., O]) -> (carry, action [..., A])."""
        ...


@dataclass(frozen=True)
class Deviation:
    """The worst element of one comparison."""

    stage: str
    """observation, action or command."""
    element: str
    difference: float
    """Absolute, in the element's unit; +inf where one of the two is not a number."""
    tolerance: float
    place: str
    """Sequence, decision and robot."""

    @property
    def ok(self) -> bool:
        """Within the tolerance."""
        return self.difference <= self.tolerance

    def __str__(self) -> str:
        size = f"{self.difference:.3g} (allowed: {self.tolerance:g})"
        return f"{self.stage} {self.element} is off by {size} at {self.place}"


def to_bytes(golden: Golden) -> bytes:
    """The content of `golden.npz`."""
    arrays: dict[str, Array] = dict(leaves(golden.views, _VIEW))
    arrays |= {name: getattr(golden, name) for name in ("obs", "action", "command")}
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def from_bytes(content: bytes) -> Golden:
    """Read the content of `golden.npz`.

    Raises:
        UserError: not such a file, or an array is missing or of another shape.
    """
    arrays = arrays_of(content, "golden.npz")
    try:
        of = arrays["obs"].shape[:3]
        if odd := [name for name, array in arrays.items() if array.ndim < 3 or array.shape[:3] != of]:
            raise ValueError(f"{odd[0][:40]} is not of as many sequences, decisions and robots as obs")
        return Golden(_views(arrays), arrays["obs"], arrays["action"], arrays["command"])
    except (KeyError, ValueError, TypeError) as error:
        raise UserError(f"golden.npz: can't be read ({error}); export the bundle anew.") from None


def arrays_of(content: bytes, file: str) -> dict[str, np.ndarray]:
    """Return the arrays of an NPZ file of a bundle by name.

    Raises:
        UserError: it is no such file; names it.
    """
    try:
        with _READING:
            return read_arrays(content)
    except (
        KeyError,
        ValueError,
        OSError,
        EOFError,
        TypeError,
        zipfile.BadZipFile,
        zlib.error,
        SyntaxError,
        RuntimeError,
        tokenize.TokenError,
    ) as error:
        raise UserError(f"{file}: can't be read ({error}); export the bundle anew.") from None


def read_arrays(content: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of an NPZ file by name. The size in a header is compared with the data before
    memory is taken.

    Raises:
        ValueError: too large, too many, or no array.
    """
    arrays, room = dict[str, np.ndarray](), MAX_BYTES
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if len(archive.infolist()) > MAX_ARRAYS:
            raise ValueError(f"over {MAX_ARRAYS} arrays")
        for entry in archive.infolist():
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("packed in another way than numpy does")
            with archive.open(entry) as stream:
                data = stream.read(room + 1)
            room -= len(data)
            if room < 0:
                raise ValueError(f"over {MAX_BYTES >> 20} MiB of arrays")
            if (name := entry.filename.removesuffix(".npy")) in arrays:
                raise ValueError(f"{name[:40]} is there twice")
            arrays[name] = _array(data)
    return arrays


def _array(data: bytes) -> np.ndarray:
    """The content of an NPY file, version 1 (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html)."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("another version of the NPY format")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise ValueError("an array is not of the size that it claims")
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape, order="F" if is_fortran else "C")


def check_policy(policy: CheckedPolicy, golden: Golden) -> list[Deviation]:
    """Worst observation and worst action element of a `robomarl.core.bundle.runtime.Policy` on the sequences.

    Each stage is fed the recorded input, so that the stage that is off is the one that is named.
    """
    lead = golden.obs.shape[:1] + golden.obs.shape[2:3]
    memory, carry = policy.observation.init(at(golden.views, 0)), policy.init(lead)
    seen, acted = list[np.ndarray](), list[np.ndarray]()
    for t in range(golden.obs.shape[1]):
        memory, obs = policy.observation.observe(memory, at(golden.views, t))
        carry, action = policy(carry, golden.obs[:, t])
        seen.append(obs)
        acted.append(action)
    return [
        worst("observation", np.stack(seen, 1), golden.obs, policy.observation.element_names(), TOLERANCE),
        worst("action", np.stack(acted, 1), golden.action, [f.name for f in policy.action.fields], TOLERANCE),
    ]


def check_filter(contract: Contract, golden: Golden, steps: int | None = None) -> Deviation:
    """Return the worst command element of the safety filter on the sequences.

    Args:
        contract: contract of the bundle.
        golden: its sequences.
        steps: number of decisions to check in each sequence; by default all.
    """
    names = [f.name for f in contract.action.fields]
    views = map_view(lambda leaf: leaf[:, :steps], golden.views)
    ours = filtered(contract, views, golden.action[:, :steps])
    return worst("command", ours, golden.command[:, :steps], names, COMMAND_TOLERANCE)


def filtered(contract: Contract, views: LocalView, action: np.ndarray) -> np.ndarray:
    """Return the safety filter's commands [S, T, N, A] for the actions, from its initial carry.

    The memory is passed between decisions in single precision, as in the filtered graph: if no command
    satisfies all constraints, decisions depend on its last digits.
    """
    safety = filter_for(contract.action, contract.safety)
    carry = safety.init(action.shape[:1] + action.shape[2:3])
    commands: list[np.ndarray] = []
    for t in range(action.shape[1]):
        carry, result = safety(in_single(carry), at(views, t), action[:, t])
        commands.append(np.asarray(result.command, np.float32))
    return np.stack(commands, 1)


def in_single(tree: Branch) -> Branch:
    """Nested NamedTuples with every number rounded to single precision; whole numbers as they are."""
    return each(tree, _single)


def _single(leaf: Array) -> Array:
    array = np.asarray(leaf)
    return array.astype(np.float32).astype(np.float64) if array.dtype.kind == "f" else leaf


def worst(stage: str, ours: np.ndarray, theirs: np.ndarray, names: list[str], tolerance: float) -> Deviation:
    """The element of [S, T, N, E] that differs most; non-finite counts as infinitely far."""
    if ours.shape != theirs.shape:
        raise UserError(
            f"golden.npz: {stage} has shape {theirs.shape}, here it is {ours.shape}; export the bundle anew."
        )
    difference = np.abs(ours.astype(np.float64) - theirs)
    difference[~np.isfinite(difference)] = np.inf
    s, t, n, e = (int(i) for i in np.unravel_index(np.argmax(difference), difference.shape))
    place = f"sequence {s}, decision {t}, robot {n}"
    return Deviation(stage, names[e], float(difference[s, t, n, e]), tolerance, place)


def at(views: LocalView, t: int) -> LocalView:
    """The views [S, N, ...] of decision t out of [S, T, N, ...]."""
    return map_view(lambda leaf: leaf[:, t], views)


def map_view(function: Callable[[Array], Array], views: LocalView) -> LocalView:
    """Apply a function to every array of a view."""
    return each(views, function)


def check_shapes(golden: Golden, observation: ObservationSpec, action: ActionSpec) -> None:
    """Compare the sizes with the specs.

    Raises:
        UserError: the sequences are of another policy, or too few.
    """
    sequences, steps = golden.obs.shape[:2]
    if golden.obs.shape[-1] != observation.size or golden.action.shape[-1] != action.size:
        raise UserError("golden.npz: holds vectors of other lengths than bundle.json says; export the bundle anew.")
    # Clipping leaves an action on its limit: that is one rounding of float32 away from it at most.
    slack = 1e-5 * (1 + np.abs(action.high - action.low))
    if not np.all((golden.action >= action.low - slack) & (golden.action <= action.high + slack)):
        raise UserError("golden.npz: has actions outside the limits that bundle.json says; export the bundle anew.")
    if sequences < 2 or steps < 20:
        raise UserError(
            f"golden.npz: holds {sequences} sequences of {steps} decisions; 2 of 20 are needed, export anew."
        )


def _views(arrays: dict[str, np.ndarray]) -> LocalView:
    """Build a `LocalView` from flat arrays; the task's sensors become a NamedTuple with the names in the file."""
    names = [n.removeprefix(_SENSED) for n in arrays if n.startswith(_SENSED)]
    make: Callable[..., tuple[Array, ...]] = namedtuple("Sensed", names)  # pyright: ignore[reportUntypedNamedTuple]
    blank = blank_view(0, make(*(arrays[_SENSED + n] for n in names)) if names else None)
    in_order = iter([arrays[name] for name, _ in leaves(blank, _VIEW)])
    return each(blank, lambda _: next(in_order))
