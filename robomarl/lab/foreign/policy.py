"""`ForeignPolicy`: a policy from another framework, as a pure function, and as computed by its own framework."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.config import UserError
from robomarl.core.geometry import namespace
from robomarl.core.spec import ActionSpec, ObservationSpec
from robomarl.core.types import Array
from robomarl.lab.foreign.contract_file import ContractFile, Normalizer

Memory = tuple[Array, ...]


@dataclass(frozen=True)
class ForeignPolicy:
    """Computation of a file for one robot, in the file's own order and units."""

    framework: str
    """Framework that computes `reference`, with its version."""
    memory: tuple[tuple[int, ...], ...]
    """Shape of each array that is passed from decision to decision; it begins as zeros."""
    apply: Callable[[Memory, Array], tuple[Memory, Array]]
    """(memory, input [I]) -> (memory, output [O]); pure JAX."""
    reference: Callable[[np.ndarray], np.ndarray]
    """Inputs [T, I] of one robot's decisions in a row -> outputs [T, O], by the framework that the file is of."""
    num_inputs: int | None = None
    """I, where the file says it."""
    normalized: bool = False
    """True if the policy contains a normalizer."""


@dataclass(frozen=True)
class Wiring:
    """Conversion between robomarl's observation and command and the policy's inputs and outputs. Array-generic."""

    columns: tuple[int, ...]
    """Place in the observation of each element that the policy reads."""
    scale: np.ndarray
    """[I]"""
    normalizer: Normalizer | None
    rows: tuple[int, ...]
    """Place in the policy's output of each element of the command."""
    middle: np.ndarray
    """[A] command for an output of 0."""
    half: np.ndarray
    """[A] change of the command for an output of 1."""
    squashed: bool
    action: ActionSpec

    def read(self, obs: Array) -> Array:
        """Observation [..., N] -> the policy's input [..., I]."""
        x = obs[..., np.array(self.columns)] * self.scale
        if (n := self.normalizer) is None:
            return x
        x = (x - np.array(n.mean, np.float32)) / (np.array(n.std, np.float32) + np.float32(n.epsilon))
        return x if n.clip is None else namespace(x).clip(x, -n.clip, n.clip)

    def write(self, output: Array) -> Array:
        """The policy's output [..., O] -> command [..., A] within its limits."""
        xp = namespace(output)
        raw = output[..., np.array(self.rows)]
        raw = xp.tanh(raw) if self.squashed else raw
        return xp.clip(self.middle + self.half * raw, self.action.low, self.action.high)


def wire(contract: ContractFile, where: str, spec: ObservationSpec, action: ActionSpec) -> Wiring:
    """Combine a contract and the specs.

    Args:
        contract: the file's.
        where: the file, for errors.
        spec: features of the observation.
        action: elements of the command.

    Raises:
        UserError: an element that does not exist, or a list of another length.
    """
    seen, done = spec.element_names(), [f.name for f in action.fields]
    inputs, outputs = contract.observation, contract.action
    columns = _places(inputs.elements, seen, f"{where}: observation.elements") if inputs.elements else range(len(seen))
    rows = _places(outputs.elements, done, f"{where}: action.elements") if outputs.elements else range(len(done))
    if sorted(rows) != list(range(len(done))):
        raise UserError(f"{where}: action.elements must name each of {', '.join(done)} once.")
    scale = _factors(inputs.scale, len(columns), f"{where}: observation.scale")
    gain = _factors(outputs.scale, len(done), f"{where}: action.scale")[list(np.argsort(rows))]
    _factors(contract.normalizer.mean if contract.normalizer else (), len(columns), f"{where}: normalizer.mean")
    shift = np.array(outputs.offset or (0.0,) * len(done), np.float32)
    _factors(outputs.offset, len(done), f"{where}: action.offset")
    is_si = outputs.unit == "si"
    middle = np.zeros(len(done), np.float32) if is_si else (action.high + action.low) / 2
    half = np.ones(len(done), np.float32) if is_si else (action.high - action.low) / 2
    order = tuple(int(i) for i in np.argsort(rows))
    middle = middle + half * shift[list(order)]
    return Wiring(
        tuple(columns), scale, contract.normalizer, order, middle, half * gain, outputs.squash == "tanh", action
    )


def deployed(policy: ForeignPolicy, wiring: Wiring) -> Callable[[Memory, Array], tuple[Memory, Array]]:
    """Return the exported function: (carry, obs [..., N]) -> (carry, command [..., A])."""

    def one(carry: Memory, obs: Array) -> tuple[Memory, Array]:
        memory, output = policy.apply(carry, wiring.read(obs))
        return memory, wiring.write(jnp.reshape(output, (-1,)))

    def decide(carry: Memory, obs: Array) -> tuple[Memory, Array]:
        function = one
        for _ in range(obs.ndim - 1):
            function = jax.vmap(function)
        return function(carry, obs)

    return decide


def _places(names: tuple[str, ...], known: list[str], key: str) -> list[int]:
    for name in names:
        if name not in known:
            raise UserError(f"{key}: {name!r} is not one of {', '.join(known)}.")
        if names.count(name) > 1:
            raise UserError(f"{key}: {name!r} is there twice; name it once.")
    return [known.index(name) for name in names]


def _factors(given: tuple[float, ...], count: int, key: str) -> np.ndarray:
    if given and len(given) != count:
        raise UserError(f"{key} has {len(given)} numbers for {count} elements; give one for each.")
    return np.array(given or (1.0,) * count, np.float32)
