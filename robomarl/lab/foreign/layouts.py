"""State dicts of the trainers that labs use become an `ActorNetwork`: which arrays are the actor's, in which order."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robomarl.core.config import UserError
from robomarl.lab.foreign.checkpoint.stable_baselines import Normalization, SpaceLimits
from robomarl.lab.foreign.checkpoint.trainers import LAYOUTS, StateDictLayout
from robomarl.lab.foreign.contract_file import ACTIVATIONS
from robomarl.lab.foreign.layers import CellWeights
from robomarl.lab.foreign.network import ActorNetwork, Dense, Scaler
from robomarl.lab.foreign.vision.refused import pictures_refused

Weights = Mapping[str, np.ndarray]
"""Arrays by dotted name."""
_ACTORS = re.compile(
    r"extractor|cnn|conv|embed|encoder|estimator|norm|shared|running_mean|memory_[as]\b|rnn|gru|lstm|actor|student|"
    r"policy_net|net_container|hidden_|Dense_",
    re.IGNORECASE,
)
_NOT_ACTORS = re.compile(
    r"critic|value|vf|\bqf|q_net|teacher|target|optim|log_?std|\bstd\b|sigma|count|num_batches|_var|_std|memory_[ct]\b|"
    r"rnn_c|c_rnn|c_layer|reward|rnd|discrim|amp|privileged|summed_variance|^2\.|Dense_|distribution|entropy|alpha",
    re.IGNORECASE,
)


class _Noted(dict):
    """Arrays by name that record which ones were read."""

    def __init__(self, weights: Weights) -> None:
        super().__init__(weights)
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> np.ndarray:
        self.seen.add(name)
        return super().__getitem__(name)

    def array(self, name: str) -> np.ndarray | None:
        return self[name] if name in self else None


class _Layer(NamedTuple):
    name: str
    inputs: int
    outputs: int


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
    layout, noted = LAYOUTS[name], _Noted(weights)
    prefix, head = _first(noted, layout.dense, r"\.?\d+\."), _first(noted, layout.head, r"\.")
    if prefix is None and head is None:
        known, others = ", ".join(layout.dense[:4]), layouts_of(noted)
        mend = f", as the layout {' or '.join(map(repr, others))} has" if others else ""
        raise UserError(f"{where}: has no layer of the layout {name!r} ({known}, ...); it has {_some(noted)}{mend}.")
    is_squashed = bool({prefix if head is None else None, head} & {*layout.squashed})
    kind, cells = _cells(noted, layout.recurrent, where)
    dense = _dense(noted, prefix, where) if prefix else []
    dense += [_layer(noted, head, where)] if head else []
    dense = _actor_of_chain(noted, dense, bool(cells)) if layout.is_chain else dense
    split = _split(layout, cells, dense, where)
    layers = [_weights(noted, layer) for layer in dense]
    network = ActorNetwork(
        scaler=_scaler(noted, layout, where),
        cell=kind,
        cells=tuple(c for _, c in cells),
        dense=tuple(layers[split:]),
        activation=_activation(noted, layout, activation, is_squashed, where),
        squashed=is_squashed,
        gain=_named(noted, "action_scale") if is_squashed else None,
        offset=_named(noted, "action_bias") if is_squashed else None,
        before=tuple(layers[:split]),
        norm=_norm(noted, layout),
    )
    _check_all_seen(noted, where)
    return _mean_only(network, where) if layout.doubled and not head else network


def layouts_of(weights: Weights) -> list[str]:
    """Names of the layouts that have layers called as these are."""
    return [
        name
        for name, layout in LAYOUTS.items()
        if _first(weights, layout.dense, r"\.?\d+\.") or _first(weights, layout.head, r"\.")
    ]


def within_limits(network: ActorNetwork, limits: SpaceLimits) -> ActorNetwork:
    """Apply the limits of Stable-Baselines3's action space: squashed actions fill it, other actions are clipped."""
    low, high = limits.low, limits.high
    if network.squashed:
        return replace(network, gain=(high - low) / 2, offset=(high + low) / 2)
    return replace(network, limits=(low, high))


def normalized(network: ActorNetwork, seen: Normalization) -> ActorNetwork:
    """The network behind a `VecNormalize`."""
    std = np.sqrt(seen.variance + seen.epsilon).astype(np.float32)
    return replace(network, scaler=Scaler(seen.mean.astype(np.float32), std, 0.0, seen.clip))


def _first(weights: Weights, names: tuple[str, ...], behind: str) -> str | None:
    """The first name that arrays begin with."""
    return next((n for n in names if any(re.match(rf"{re.escape(n)}{behind}weight", key) for key in weights)), None)


def _dense(weights: _Noted, prefix: str, where: str) -> list[_Layer]:
    """Every layer, in order."""
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


def _layer(weights: _Noted, name: str, where: str) -> _Layer:
    weight = weights.array(f"{name}.weight")
    if weight is None:
        raise UserError(f"{where}: {name} is not one dense layer; export the policy as ONNX instead.")
    if weight.ndim != 2:
        raise UserError(
            f"{where}: {name}.weight has shape {list(weight.shape)}, which no dense layer has; export the policy as "
            "ONNX instead."
        )
    return _Layer(name, weight.shape[1], weight.shape[0])


def _weights(weights: _Noted, layer: _Layer) -> Dense:
    bias = weights.array(f"{layer.name}.bias")
    return weights[f"{layer.name}.weight"], np.zeros(layer.outputs, np.float32) if bias is None else bias


def _actor_of_chain(weights: _Noted, dense: list[_Layer], is_recurrent: bool) -> list[_Layer]:
    """Return the layers before the first that does not fit its predecessor, at most up to one as wide as `log_std`."""
    spread = next((array.size for name, array in weights.items() if name.rpartition(".")[2] == "log_std"), None)
    count = 2 if is_recurrent else 1  # a recurrent layer stands between the first two
    while count < len(dense) and dense[count].inputs == dense[count - 1].outputs != spread:
        count += 1
    return dense[:count]


def _split(layout: StateDictLayout, cells: list, dense: list[_Layer], where: str) -> int:
    """How many dense layers stand before the recurrent ones; raises `UserError` unless one order fits."""
    recurrent = [_Layer(name, c.inputs.shape[1], c.hidden.shape[1]) for name, c in cells]
    counts = [(len(dense) - 1 if n < 0 else n) for n in layout.cell_after] if cells else [0]
    misfits = {n: _misfit([*dense[:n], *recurrent, *dense[n:]]) for n in counts}
    fitting = [n for n, misfit in misfits.items() if misfit is None]
    if not fitting:
        raise UserError(f"{where}: {misfits[counts[0]]}; a layer is missing, or the layout is another.")
    if len({*fitting}) > 1:
        raise UserError(f"{where}: its recurrent layer fits before and behind the dense ones; export ONNX instead.")
    return fitting[0]


def _misfit(layers: list[_Layer]) -> str | None:
    """The first layer that does not fit the one before, in words."""
    for before, layer in zip(layers, layers[1:], strict=False):
        if before.outputs != layer.inputs:
            return f"{layer.name} takes {layer.inputs} numbers, but {before.name} before it gives {before.outputs}"
    return None


def _cells(weights: _Noted, names: tuple[str, ...], where: str) -> tuple[str, list[tuple[str, CellWeights]]]:
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


def _cell(weights: _Noted, prefix: str, layer: int, where: str) -> CellWeights:
    found = []
    for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        key = f"{prefix}.{part}_l{layer}"
        if key not in weights:
            raise UserError(f"{where}: {key} is missing; save the whole state dict, of a cell with biases.")
        found.append(weights[key])
    return CellWeights(*found)


def _activation(weights: _Noted, layout: StateDictLayout, given: str, is_squashed: bool, where: str) -> str:
    """The activation that the contract or the layout says."""
    usual = layout.off_policy_activation if is_squashed else layout.activation
    if not usual and any(name.startswith("2.") for name in weights):  # Brax's PPO saves its critic third
        usual = "silu"
    chosen = given or usual
    if not chosen:
        raise UserError(
            f"{where}: does not say its activation, and this trainer has several usual ones; add activation = one of "
            f"{', '.join(ACTIVATIONS)}."
        )
    return chosen


def _scaler(weights: _Noted, layout: StateDictLayout, where: str) -> Scaler | None:
    for mean_name, spread_name in (layout.statistics, tuple(f"{n}.state" for n in layout.statistics)):
        prefix = next((n for n in layout.scaler if f"{n}.{mean_name}" in weights), None)
        if prefix is None:
            continue
        if f"{prefix}.{spread_name}" not in weights:
            raise UserError(f"{where}: {prefix}.{spread_name} is missing; save the whole normalizer.")
        mean, spread = (weights[f"{prefix}.{n}"].reshape(-1).astype(np.float32) for n in (mean_name, spread_name))
        if layout.epsilon_inside:
            return Scaler(mean, np.sqrt(spread + np.float32(layout.epsilon)), 0.0, layout.clip)
        return Scaler(mean, np.sqrt(spread) if layout.is_variance else spread, layout.epsilon, layout.clip)
    return None


def _norm(weights: _Noted, layout: StateDictLayout) -> Dense | None:
    name = next((n for n in layout.norm if f"{n}.weight" in weights), None)
    return None if name is None else (weights[f"{name}.weight"], weights[f"{name}.bias"])


def _named(weights: _Noted, name: str) -> np.ndarray | None:
    """The array of that name, at the top or in the first of several state dicts."""
    return weights.array(name) if name in weights else weights.array(f"0.{name}")


def _mean_only(network: ActorNetwork, where: str) -> ActorNetwork:
    """Return Brax's policy without the deviations that its last layer writes; tanh is behind the mean."""
    *others, (weight, bias) = network.dense
    half, rest = divmod(len(weight), 2)
    if rest:
        raise UserError(f"{where}: its last layer writes {len(weight)} numbers, no mean and deviation of each.")
    return replace(network, dense=(*others, (weight[:half], bias[:half])), squashed=True)


def _check_all_seen(weights: _Noted, where: str) -> None:
    """Raises `UserError` if an array that looks like the actor's was not used: the network would be another one."""
    for name in weights:
        if name not in weights.seen and _ACTORS.search(name) and not _NOT_ACTORS.search(name):
            if np.ndim(weights[name]) == 4:  # weights of a convolution: [out, in, rows, columns]
                raise pictures_refused(where, f"array {name}")
            raise UserError(
                f"{where}: has {name}, which import would leave out of the actor; export the policy as ONNX instead."
            )


def _some(weights: Weights) -> str:
    names = list(weights)
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "") if names else "no arrays at all"
