"""The squashed Gaussian between the actor and the robot: a normal distribution, and tanh into the command's ranges."""

from typing import Protocol

import jax
import jax.numpy as jnp
from brax.training.distribution import NormalDistribution, TanhBijector

from robomarl.core.config import UserError
from robomarl.core.spec import ActionSpec
from robomarl.lab.train.config import NoiseConfig, TrainConfig


class Normal(Protocol):
    """Normal distributions [...], as Brax makes them."""

    loc: jax.Array
    scale: jax.Array

    def log_prob(self, x: jax.Array) -> jax.Array:
        """[...] -> [...] logarithms of the density."""
        ...

    def sample(self, seed: jax.Array) -> jax.Array:
        """Return one sample [...] of each."""
        ...

    def entropy(self) -> jax.Array:
        """Return the entropies [...] in nats."""
        ...


def distribution(output: jax.Array, noise: NoiseConfig, floor: jax.Array) -> Normal:
    """Gaussian before the squash, a Brax distribution. Its deviation is at least `floor`, times `noise.scale`."""
    mean, raw = jnp.split(output, 2, axis=-1)
    deviation = jnp.maximum(noise.start_std * jnp.exp(raw), floor) * jnp.asarray(noise.scale or 1.0, output.dtype)
    return NormalDistribution(mean.shape[-1]).create_dist((mean, deviation))


def noise_along(config: TrainConfig, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """[T, *shape] standard normal noise of a rollout, correlated along T (an autoregressive process of first order)."""
    share, fresh = config.noise.correlation, jax.random.normal(key, (config.unroll, *shape))

    def go_on(before: jax.Array, new: jax.Array) -> tuple[jax.Array, jax.Array]:
        now = share * before + (1 - share**2) ** 0.5 * new
        return now, now

    return jnp.concatenate([fresh[:1], jax.lax.scan(go_on, fresh[0], fresh[1:])[1]])


def log_prob(dist: Normal, raw_action: jax.Array) -> jax.Array:
    """[..., A] unsquashed -> [...] log probability of the squashed action."""
    return (dist.log_prob(raw_action) - TanhBijector().forward_log_det_jacobian(raw_action)).sum(-1)


def divergence(before: Normal, after: Normal) -> jax.Array:
    """Return the KL divergence of `after` from `before`: [..., A] Gaussians -> [...] KL(before | after),
    in nats.

    The squash is equal for both and does not change it.
    """
    ratio = before.scale / after.scale
    off = (before.loc - after.loc) / after.scale
    return (0.5 * (ratio**2 + off**2 - 1) - jnp.log(ratio)).sum(-1)


def squash(raw_action: jax.Array, spec: ActionSpec) -> jax.Array:
    """[..., A] unbounded -> the action in physical units; 0 is the middle of each range."""
    middle, half = (spec.high + spec.low) / 2, (spec.high - spec.low) / 2
    return jnp.asarray(middle) + half * jnp.tanh(raw_action)


def check_noise(noise: NoiseConfig, action: ActionSpec) -> None:
    """Raises `UserError` where `noise.scale` has not a factor for each component of the command."""
    names = [field.name for field in action.fields]
    if noise.scale and len(noise.scale) != len(names):
        components = ", ".join(names)
        raise UserError(f"noise.scale has {len(noise.scale)} factors, but the command has {len(names)}: {components}.")
