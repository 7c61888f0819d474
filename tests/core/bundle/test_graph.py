"""JAX and ONNX give the same numbers, at any batch size."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import onnxruntime
import pytest
from flax import linen as nn

from robomarl.core.config import UserError
from robomarl.lab.export.graph import to_onnx

RNG = np.random.default_rng(0)


def differences(function, sizes: dict[str, tuple], graph: bytes | None = None) -> float:
    """Largest difference at batch sizes 1 and 5."""
    graph = graph or to_onnx(function, sizes, ["y"])
    session = onnxruntime.InferenceSession(graph)
    worst = 0.0
    for batch in (1, 5):
        feed = {n: 3 * RNG.standard_normal((batch, *s), np.float32) for n, s in sizes.items()}
        ours, theirs = np.asarray(session.run(None, feed)[0]), np.asarray(function(*feed.values())[0])
        assert ours.shape == theirs.shape
        worst = max(worst, float(np.abs(ours - theirs).max()))
    return worst


def dense(activation):
    net = nn.Sequential([nn.Dense(16), activation, nn.Dense(3)])
    params = net.init(jax.random.key(0), jnp.zeros(6))
    return lambda x: (net.apply(params, x),)


def attention():
    """Own state asks, three team-mates answer; who was not heard is masked."""
    layer, norm, blank = (
        nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=8),
        nn.LayerNorm(),
        jnp.zeros((1, 3, 4)),
    )
    params = layer.init(jax.random.key(1), blank[:, :1], blank, mask=jnp.ones((1, 1, 1, 3), bool))
    scales = norm.init(jax.random.key(2), blank)

    def function(x):
        own, mates, heard = jnp.split(x, (4, 16), axis=-1)
        mates, mask = mates.reshape(-1, 3, 4), (heard > 0)[:, None, None, :]
        answer = layer.apply(params, own[:, None], mates, mask=mask)
        return (norm.apply(scales, answer[:, 0]),)  # type: ignore[index]

    return function


def test_all_of_nothing_is_true_and_any_of_nothing_is_not():
    """Mates of a robot that is alone: with the least of nothing as 0, its filtered graph took them as stale."""

    def function(x):
        nobody = x[:, :0] > 0
        return (jnp.stack([nobody.all(-1), nobody.any(-1), (x > 0).all(-1)], -1).astype(x.dtype),)

    assert differences(function, {"x": (3,)}) == 0


CASES = {
    "tanh": (dense(nn.tanh), (6,)),
    "elu": (dense(nn.elu), (6,)),
    "relu": (dense(nn.relu), (6,)),
    "silu": (dense(nn.silu), (6,)),
    "attention": (attention(), (19,)),
    "softmax": (lambda x: (jax.nn.softmax(x),), (5,)),
    "concatenate": (lambda x: (jnp.concatenate([jnp.ones_like(x), x, x * 0 + 2.0], -1),), (5,)),
    "slices": (lambda x: (jax.lax.slice_in_dim(x, 1, 5, 2, axis=1) ** 2 - jnp.mean(x, -1, keepdims=True),), (5,)),
    "constant": (lambda x: (jnp.broadcast_to(jnp.arange(3.0), (x.shape[0], 3)),), (5,)),
    "indices": (lambda x: (x[:, 1:3] * x[:, -1:] + x[:, 0][:, None],), (5,)),
    "index arrays": (lambda x: (x[:, np.array([3, 0, 0])] + x[:, np.array([1, 2, 4])],), (5,)),
    "all, any": (lambda x: (jnp.where((x > -3).all(-1) & ~(x > 3).any(-1) & (x[:, 0] != 1), 1.0, x[:, 1]),), (5,)),
    "top_k": (lambda x: (jnp.concatenate([v.astype(jnp.float32) for v in jax.lax.top_k(x, 3)], -1),), (5,)),
    "argmax": (lambda x: (x.argmax(-1)[:, None] + 10.0 * x.argmin(-1)[:, None],), (5,)),
    "index tables": (lambda x: (x[:, np.array([[3, 0], [1, 4]])] - x[:, np.array([[1, 1], [0, 2]])],), (5,)),
    "stacks": (lambda x: (x @ (x / 4).transpose(0, 2, 1) + x[:, :, :1],), (3, 4)),
    "turned, times a vector": (lambda x: (x.transpose(0, 2, 1) @ np.arange(3, dtype=np.float32) / 8,), (3, 4)),
    "powers": (lambda x: ((x / 9) ** 2 - (x / 9) ** 3 + jnp.expm1(x / 9) - jnp.log1p(x * x),), (5,)),
    "clip": (lambda x: (jnp.clip(x, -1.0, 1.0) * jnp.where(x > 0, x, 0.5),), (5,)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_graph_is_the_function(name: str):
    function, size = CASES[name]
    assert differences(function, {"x": size}) < 2e-6


def test_recurrent_cells_have_their_memory_as_input():
    cell = nn.GRUCell(7)
    params = cell.init(jax.random.key(0), jnp.zeros((1, 7)), jnp.zeros((1, 4)))
    assert differences(lambda h, x: (cell.apply(params, h, x)[0],), {"h": (7,), "x": (4,)}) < 2e-6  # type: ignore[index]


def test_inputs_and_outputs_have_their_types():
    def function(x, m) -> Any:
        return jnp.where(m, x, 0.0), m & (x > 0)

    graph = to_onnx(function, {"x": (3,), "m": (3,)}, ["y", "ok"], {"m": "bool"})
    session = onnxruntime.InferenceSession(graph)
    x, mask = np.array([[1, -2, 3]], np.float32), np.array([[True, True, False]])
    y, ok = (np.asarray(array) for array in session.run(None, {"x": x, "m": mask}))
    assert y.tolist() == [[1, -2, 0]]
    assert ok.tolist() == [[True, False, False]]


def collatz(x: jax.Array) -> tuple:
    """Steps until 1, for each by itself: a loop whose body selects, and sees a value from outside."""
    one = x * 0 + 1

    def step(state: tuple) -> tuple:
        n, count, _ = state
        busy = n != one
        half = jnp.floor(n / 2) == n / 2
        n = jnp.where(busy, jnp.where(half, n / 2, 3 * n + 1), n)
        return n, count + busy, (n != one).any()

    return (jax.lax.while_loop(lambda state: state[2], step, (x, one * 0, (x != one).any()))[1],)


@pytest.mark.parametrize("start, steps", [([27, 1, 6], [111, 0, 8]), ([1, 1, 1], [0, 0, 0])])
def test_a_loop_ends_when_its_last_row_does(start: list[int], steps: list[int]):
    session = onnxruntime.InferenceSession(to_onnx(collatz, {"x": (3,)}, ["y"]))
    x = np.array([start, [1, 2, 4]], np.float32)
    assert np.asarray(session.run(None, {"x": x})[0]).tolist() == [steps, [0, 1, 2]]


def test_double_precision_is_kept():
    def function(x) -> Any:
        return (x + 1e-12,)

    with jax.enable_x64(True):
        session = onnxruntime.InferenceSession(to_onnx(function, {"x": (1,)}, ["y"], {"x": "float64"}))
    assert np.asarray(session.run(None, {"x": np.ones((1, 1))})[0]).tolist() == [[1 + 1e-12]]


def test_what_nothing_needs_is_left_out():
    model = onnx.load_from_string(to_onnx(lambda x: (jnp.exp(x), x + 1)[1:], {"x": (3,)}, ["y"]))
    assert [node.op_type for node in model.graph.node] == ["Add", "Identity"]


def test_a_changed_weight_is_noticed():
    function, size = CASES["tanh"]
    model = onnx.load_from_string(to_onnx(function, {"x": size}, ["y"]))
    weight = next(t for t in model.graph.initializer if len(t.dims) == 2)
    values = onnx.numpy_helper.to_array(weight).copy()
    values[0, 0] += 1e-3
    weight.CopyFrom(onnx.numpy_helper.from_array(values, weight.name))
    assert differences(function, {"x": size}, model.SerializeToString()) > 1e-5


def test_what_cannot_be_translated_is_named():
    with pytest.raises(UserError, match="'sort'"):
        to_onnx(lambda x: (jnp.sort(x, -1),), {"x": (4,)}, ["y"])
    with pytest.raises(UserError, match="computed number"):
        to_onnx(lambda x: (x[:, (x.sum() > 0).astype(jnp.int32)],), {"x": (4,)}, ["y"])
