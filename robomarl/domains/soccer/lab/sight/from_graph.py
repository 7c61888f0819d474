"""`read_graph`: the weights of a perception network out of its ONNX file, to train it further without its `network.pt`.

The file has one convolution in place of each convolution with its batch norm. The norm gets back the mean and spread of
what the convolution says of some pictures, so it changes nothing, and learns as one that was trained.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false
from pathlib import Path

import numpy as np
import onnx
import torch
from google.protobuf.message import DecodeError
from onnx import ModelProto, numpy_helper
from torch import nn

from robomarl.core.config import UserError
from robomarl.domains.soccer.lab.sight.network import SightNetwork

LAYERS = ("Conv", "Gemm")
"""Operators with weights."""
NOTHING = "nothing"
"""The parameter that belongs to no layer."""


def read_graph(file: Path, network: SightNetwork, pictures: torch.Tensor) -> None:
    """Give a network the weights of an ONNX file that `fit` wrote.

    Args:
        file: the graph.
        network: of equal layers.
        pictures: [B, R, C, 3] uint8, drawn as those to come.

    Raises:
        UserError: the file is no such graph, or of other layers.
    """
    try:
        weights = _weights(onnx.load(file))
        layers = {name for name, part in network.named_modules() if isinstance(part, (nn.Conv2d, nn.Linear))}
        if missing := sorted({*layers, NOTHING} - set(weights)):
            raise ValueError(f"it has no {missing[0]}")
        for name, (weight, bias) in weights.items():
            _put(network, name, weight, bias)
    except (OSError, ValueError, KeyError, AttributeError, RuntimeError, DecodeError) as error:
        raise UserError(f"{file}: is no perception network of these layers ({error}); name another file.") from None
    _settle_norms(network, pictures)


def _weights(model: ModelProto) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Weight and bias of each layer, by the path of its module; `nothing` has a bias alone."""
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for node in model.graph.node:
        if node.op_type == "Cast" and node.input[0] in values:
            values[node.output[0]] = values[node.input[0]].astype(np.float32)
        elif node.op_type == "Mul" and set(node.input) <= set(values):
            values[node.output[0]] = values[node.input[0]] * values[node.input[1]]
        elif node.op_type in LAYERS:
            found[_path(node.name)] = values[node.input[1]], values[node.input[2]]
        elif node.op_type == "Concat" and node.input[0] in values and NOTHING not in found:
            found[NOTHING] = np.zeros(0), values[node.input[0]]
    return found


def _path(name: str) -> str:
    """Return a module's path, "fine.2.convolution", of its node's name, "/network/fine/fine.2/convolution/Conv"."""
    path = ""
    for part in name.split("/")[2:-1]:
        path = part if part.startswith(path) else f"{path}.{part}"
    return path


def _put(network: SightNetwork, name: str, weight: np.ndarray, bias: np.ndarray) -> None:
    if name == NOTHING:
        network.nothing.data.copy_(torch.from_numpy(bias.reshape(-1).copy()))
        return
    layer = network.get_submodule(name)
    layer.weight.data.copy_(torch.from_numpy(np.array(weight)))  # type: ignore[operator]
    holder = layer if layer.bias is not None else _norm(network, name)
    holder.bias.data.copy_(torch.from_numpy(np.array(bias)))  # type: ignore[union-attr, operator]


def _norm(network: SightNetwork, convolution: str) -> nn.BatchNorm2d:
    """Return the batch norm behind a convolution without a bias, with a mean of 0 and a spread of 1."""
    block, _, last = convolution.rpartition(".")
    norm = network.get_submodule(f"{block}.norm" if last == "convolution" else f"{block}.{int(last) + 1}")
    norm.reset_running_stats()  # type: ignore[operator]
    norm.weight.data.fill_((1 + norm.eps) ** 0.5)  # type: ignore[operator]
    return norm  # type: ignore[return-value]


def _settle_norms(network: SightNetwork, pictures: torch.Tensor) -> None:
    """Give each norm mean and spread of its input, and a weight and bias by which its output stays what it is."""
    handles = [
        norm.register_forward_pre_hook(_settled) for norm in network.modules() if isinstance(norm, nn.BatchNorm2d)
    ]
    network.eval()
    with torch.no_grad():
        network(pictures)
    network.train()
    for handle in handles:
        handle.remove()


def _settled(norm: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
    mean, spread = inputs[0].mean((0, 2, 3)), inputs[0].var((0, 2, 3))
    norm.running_mean.copy_(mean)  # type: ignore[operator, union-attr]
    norm.running_var.copy_(spread)  # type: ignore[operator, union-attr]
    norm.weight.data.copy_((spread + norm.eps).sqrt())  # type: ignore[operator]
    norm.bias.data.add_(mean)  # type: ignore[operator]
