"""`contract.toml`: facts that the file of a foreign policy does not state, as frozen dataclasses."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from robomarl.core.config import NonNegative, Positive, UserError, build
from robomarl.core.features import NeighbourRule
from robomarl.core.spec import ObservationField

ACTIVATIONS = ("elu", "relu", "tanh", "sigmoid", "leaky_relu", "selu", "silu", "gelu", "softplus", "identity")
"""Names that state dicts are imported with; the slope of `leaky_relu` is 0.01, as PyTorch's."""
Layout = Literal["rsl_rl", "skrl", "cleanrl", "rl_games", "sb3", "brax", "jaxmarl"]


@dataclass(frozen=True)
class PolicyInput:
    """Inputs of the policy, in its own order."""

    fields: tuple[ObservationField | str, ...] = ()
    """Features in order: a name each, or `{ name = ..., history = ... }`. By default those of the scenario's task."""
    neighbours: NeighbourRule | None = None
    """Which team-mates; by default as the scenario's task."""
    elements: tuple[str, ...] = ()
    """Elements of these features in the order in which the policy reads them; some may be left out. By default all, as
    the features have them."""
    scale: tuple[float, ...] = ()
    """Factor of each element, before the normalizer; by default 1."""
    input: str = ""
    """Name of the observation among the inputs of an ONNX file; by default the one that is not memory."""


@dataclass(frozen=True)
class Normalizer:
    """(x - mean) / (std + epsilon), then clipped. Only where the file has none of its own."""

    mean: tuple[float, ...]
    """Mean of each element that the policy reads, in its order."""
    std: tuple[NonNegative, ...]
    """Standard deviation of each element: the root of the variance, where training kept that."""
    epsilon: NonNegative = 0.0
    """Number that training added to the deviation."""
    clip: Positive | None = None
    """Largest size of an element behind it; by default there is no limit."""

    def __post_init__(self) -> None:
        """Check that both are of one length, and that nothing is divided by 0."""
        if len(self.mean) != len(self.std):
            raise ValueError(
                f"mean has {len(self.mean)} numbers and std {len(self.std)}; they are of the same elements."
            )
        if any(s + self.epsilon == 0 for s in self.std):
            raise ValueError("std has a 0 and epsilon is 0: nothing can be divided by it; give an epsilon.")


@dataclass(frozen=True)
class PolicyOutput:
    """Meaning of the policy's outputs."""

    elements: tuple[str, ...] = ()
    """Elements of the command in the order in which the policy writes them; by default the scenario's task's."""
    squash: Literal["none", "tanh"] = "none"
    """Function that training applied to the mean of the distribution; `tanh` for a squashed Gaussian if the file
    lacks it.
    """
    unit: Literal["limits", "si"] = "limits"
    """`limits`: -1 and 1 are the least and the largest command; `si`: the numbers are in SI units. Clipped anyway."""
    scale: tuple[float, ...] = ()
    """Factor of each element, behind squash; by default 1. It must agree with an `action_scale` in the file."""
    offset: tuple[float, ...] = ()
    """Added to each element, behind scale; by default 0. It must agree with a `default_joint_pos` in the file."""
    output: str = ""
    """Name of the action among the outputs of an ONNX file; by default the only one, or the one with a known name."""


@dataclass(frozen=True)
class ContractFile:
    """The whole file."""

    scenario: str
    """Scenario of the flights, by name or path: rate, vehicle, team, radio, safety figures, and the limits of its
    commands.
    """
    layout: Layout | None = None
    """Trainer that named the layers of a state dict; ONNX and TorchScript files define their computation themselves."""
    activation: str = ""
    """Activation between the layers of a state dict, which does not store it: elu, relu, tanh, sigmoid, leaky_relu,
    selu, silu, gelu, softplus or identity; by default that of the layout's trainer.
    """
    observation: PolicyInput = field(default_factory=PolicyInput)
    normalizer: Normalizer | None = None
    action: PolicyOutput = field(default_factory=PolicyOutput)
    memory: dict[str, str] = field(default_factory=dict)
    """For each input of an ONNX file that is memory: the output that it becomes, "+1" for a counter of decisions that
    begins at 0, or "0" for an input that stays zero. By default inputs and outputs are paired by known names."""
    checked: tuple[str, ...] = ()
    """Keys of the file's metadata that import can't apply and that you have compared with this contract."""
    vec_normalize: str = ""
    """Path, from this file's folder, of a file that Stable-Baselines3's `VecNormalize.save` wrote; by default none."""

    def __post_init__(self) -> None:
        """Check that the activation is a known name."""
        if self.activation and self.activation not in ACTIVATIONS:
            raise ValueError(f"activation = {self.activation!r} is not known; allowed: {', '.join(ACTIVATIONS)}.")


def read_contract_file(path: Path) -> ContractFile:
    """Read `contract.toml`.

    Raises:
        UserError: it can't be read, is no TOML, or a key or value is wrong.
    """
    try:
        data = tomllib.loads(path.read_text())
    except OSError as error:
        raise UserError(f"--contract {path}: can't be read ({error.strerror}); name a contract.toml.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid TOML, {error}; mend the syntax there.") from None
    return build(ContractFile, data, str(path))


def check_keys(contract: ContractFile, kind: str, file: Path) -> None:
    """Look for keys of the contract that would change nothing with a file of this kind.

    Raises:
        UserError: one is given.
    """
    given = {
        "[memory]": contract.memory,
        "observation.input": contract.observation.input,
        "action.output": contract.action.output,
        "checked": contract.checked if kind != "safetensors" else (),
    }
    idle = [key for key, value in given.items() if value and kind != "onnx"]
    if contract.vec_normalize and (kind in ("onnx", "torchscript") or contract.layout not in (None, "sb3")):
        idle.append("vec_normalize")
    if idle:
        raise UserError(f"{file}: the contract's {idle[0]} does not apply to a file of this kind; take it out.")
