"""Layers that PyTorch and ONNX have alike, in JAX."""

from typing import Any

import jax
import jax.numpy as jnp


def clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    """Within the limits that there are."""
    x = x if low is None else jnp.maximum(x, low)
    return x if high is None else jnp.minimum(x, high)


def gelu(x: Any, approximate: Any = "none") -> Any:
    """As https://arxiv.org/abs/1606.08415, exact or by the hyperbolic tangent ("tanh"); ONNX says which in bytes."""
    return jax.nn.gelu(x, approximate=approximate in ("tanh", b"tanh"))


def layer_norm(x: Any, axes: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Over the last axes, as many as are said (https://arxiv.org/abs/1607.06450)."""
    last = tuple(range(x.ndim - axes, x.ndim))
    middle = x - x.mean(last, keepdims=True)
    out = middle / jnp.sqrt((middle * middle).mean(last, keepdims=True) + eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def softplus(x: Any) -> Any:
    """log(1 + e^x) that does not overflow."""
    return jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))
