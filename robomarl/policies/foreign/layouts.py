"""State dicts of the trainers that labs use: which names their layers have, and what stands between them.

The names are those that the trainers write: rsl_rl (https://github.com/leggedrobotics/rsl_rl, versions 2 to 5), skrl
(https://github.com/Toni-SM/skrl, 1 and 2) and cleanrl (https://github.com/vwxyzjn/cleanrl: PPO, SAC, TD3, DDPG).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robomarl.config import UserError
from robomarl.policies.foreign.contract_file import ACTIVATIONS
from robomarl.policies.foreign.layers import CellWeights
from robomarl.policies.foreign.network import ActorNetwork, Scaler

Weights = Mapping[str, np.ndarray]
"""Arrays by dotted name."""


@dataclass(frozen=True)
class StateDictLayout:
    """Names of one trainer: each tuple has one for each of its versions, and the first that is there counts."""

    dense: tuple[str, ...]
    """Before the numbers of the dense layers."""
    head: tuple[str, ...]
    """The last layer, where it has a name of its own."""
    recurrent: tuple[str, ...]
    """Before `weight_ih_l0`; recurrent layers come first."""
    scaler: tuple[str, ...]
    """Before the two names of the normalizer's statistics."""
    statistics: tuple[str, str]
    """Mean and variance, or deviation."""
    is_variance: bool
    epsilon: float
    clip: float | None
    activation: str
    """What the trainer's examples use."""


LAYOUTS = {
    "rsl_rl": StateDictLayout(
        dense=("actor_state_dict.mlp", "model_state_dict.actor", "mlp", "actor"),
        head=(),
        recurrent=("actor_state_dict.rnn.rnn", "model_state_dict.memory_a.rnn", "rnn.rnn", "memory_a.rnn"),
        scaler=(
            *("actor_state_dict.obs_normalizer", "model_state_dict.actor_obs_normalizer", "obs_norm_state_dict"),
            *("obs_normalizer", "actor_obs_normalizer"),
        ),
        statistics=("_mean", "_std"),
        is_variance=False,
        epsilon=1e-2,
        clip=None,
        activation="elu",
    ),
    "skrl": StateDictLayout(
        dense=("policy.net_container", "policy.net", "net_container", "net"),
        head=tuple(f"{start}{name}_layer" for start in ("policy.", "") for name in ("output", "policy", "mean")),
        recurrent=tuple(f"{start}{name}" for start in ("policy.", "") for name in ("gru", "lstm", "rnn")),
        scaler=("observation_preprocessor", "state_preprocessor"),
        statistics=("running_mean", "running_variance"),
        is_variance=True,
        epsilon=1e-8,
        clip=5.0,
        activation="elu",
    ),
    "cleanrl": StateDictLayout(
        dense=("actor_mean", "fc"),
        head=("fc_mean", "fc_mu"),
        recurrent=("gru", "lstm", "rnn"),
        scaler=(),
        statistics=("", ""),
        is_variance=True,
        epsilon=0.0,
        clip=None,
        activation="tanh",
    ),
}


def read_layout(weights: Weights, name: str, activation: str, where: str) -> ActorNetwork:
    """The actor out of the arrays of a state dict.

    Args:
        weights: arrays by dotted name, critics and optimizers included.
        name: of `LAYOUTS`.
        activation: of `ACTIVATIONS`; empty for the one of the layout.
        where: the file, for errors.

    Raises:
        UserError: a layer is missing, of another kind, or of a size that does not fit the one before.
    """
    layout = LAYOUTS[name]
    prefix, head = _first(weights, layout.dense), _first(weights, layout.head)
    if prefix is None and head is None:
        known = ", ".join(f"{p}.0.weight" for p in layout.dense)
        raise UserError(f"{where}: has no layer of the layout {name!r} ({known}); it has {_some(weights)}.")
    is_off_policy = head in ("fc_mean", "fc_mu")
    kind, cells = _cells(weights, layout.recurrent, where)
    dense = [*_dense(weights, prefix, where)] if prefix else []
    dense += [_layer(weights, head, where)] if head else []
    _check_chain([*((n, c.inputs.shape[1], c.hidden.shape[1]) for n, c in cells), *dense], where)
    chosen = activation or ("relu" if is_off_policy else layout.activation)
    assert chosen in ACTIVATIONS
    return ActorNetwork(
        scaler=_scaler(weights, layout, where),
        cell=kind,
        cells=tuple(c for _, c in cells),
        dense=tuple((weights[f"{n}.weight"], _bias(weights, n)) for n, _, _ in dense),
        activation=chosen,
        squashed=is_off_policy,
        gain=weights.get("action_scale") if is_off_policy else None,
        offset=weights.get("action_bias") if is_off_policy else None,
    )


def _first(weights: Weights, names: tuple[str, ...]) -> str | None:
    """The first name that arrays begin with; `fc` is followed by a number without a dot."""
    return next((n for n in names if any(re.match(rf"{re.escape(n)}\.?(\d+\.)?weight", key) for key in weights)), None)


def _dense(weights: Weights, prefix: str, where: str) -> list[tuple[str, int, int]]:
    """(name, inputs, outputs) of every layer, in order."""
    pattern = re.compile(rf"({re.escape(prefix)}\.?)(\d+)\.weight")
    found = [match for key in weights if (match := pattern.fullmatch(key))]
    numbers = sorted(int(match[2]) for match in found)
    start = found[0][1]
    gaps = {b - a for a, b in zip(numbers, numbers[1:], strict=False)}
    if len(gaps) > 1 or (numbers[0] not in (0, 1)):
        raise UserError(
            f"{where}: the layers {', '.join(f'{start}{n}' for n in numbers)} are not evenly numbered; one is missing, "
            "or of a kind that has no weights here: export the policy as ONNX instead."
        )
    return [_layer(weights, f"{start}{n}", where) for n in numbers]


def _layer(weights: Weights, name: str, where: str) -> tuple[str, int, int]:
    weight = weights[f"{name}.weight"]
    if weight.ndim != 2:
        raise UserError(
            f"{where}: {name}.weight has shape {list(weight.shape)}, which no dense layer has; export the policy as "
            "ONNX instead."
        )
    return name, weight.shape[1], weight.shape[0]


def _bias(weights: Weights, name: str) -> np.ndarray:
    return weights.get(f"{name}.bias", np.zeros(len(weights[f"{name}.weight"]), np.float32))


def _cells(weights: Weights, names: tuple[str, ...], where: str) -> tuple[str, list[tuple[str, CellWeights]]]:
    """The kind of the recurrent layers, and name and weights of each."""
    prefix = next((n for n in names if f"{n}.weight_ih_l0" in weights), None)
    if prefix is None:
        return "", []
    count = sum(bool(re.fullmatch(rf"{re.escape(prefix)}\.weight_ih_l\d+", key)) for key in weights)
    cells = [(f"{prefix} layer {i}", _cell(weights, prefix, i, where)) for i in range(count)]
    gates, rest = divmod(cells[0][1].inputs.shape[0], cells[0][1].hidden.shape[1])
    if rest or gates not in (3, 4):
        raise UserError(f"{where}: {prefix} is neither a GRU nor an LSTM; export the policy as ONNX instead.")
    return {3: "gru", 4: "lstm"}[gates], cells


def _cell(weights: Weights, prefix: str, layer: int, where: str) -> CellWeights:
    found = []
    for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        key = f"{prefix}.{part}_l{layer}"
        if key not in weights:
            raise UserError(f"{where}: {key} is missing; save the whole state dict, of a cell with biases.")
        found.append(weights[key])
    return CellWeights(*found)


def _check_chain(layers: list[tuple[str, int, int]], where: str) -> None:
    for (before, _, gives), (name, takes, _) in zip(layers, layers[1:], strict=False):
        if gives != takes:
            raise UserError(
                f"{where}: {name} takes {takes} numbers, but {before} before it gives {gives}; a layer is missing, or "
                "the layout is another."
            )


def _scaler(weights: Weights, layout: StateDictLayout, where: str) -> Scaler | None:
    mean_name, spread_name = layout.statistics
    prefix = next((n for n in layout.scaler if f"{n}.{mean_name}" in weights), None)
    if prefix is None:
        return None
    if f"{prefix}.{spread_name}" not in weights:
        raise UserError(f"{where}: {prefix}.{spread_name} is missing; save the whole normalizer.")
    mean, spread = (weights[f"{prefix}.{n}"].reshape(-1).astype(np.float32) for n in layout.statistics)
    return Scaler(mean, np.sqrt(spread) if layout.is_variance else spread, layout.epsilon, layout.clip)


def _some(weights: Weights) -> str:
    names = list(weights)
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "") if names else "no arrays at all"
