"""How far a gradient moves actor and critic: Adam for each, and a learning rate that follows the KL divergence.

Each part's numbers are one vector here: some thirty arrays were as many loops, each to be compiled.
"""

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree

from robomarl.lab.train.config import TrainConfig
from robomarl.lab.trees import Moments, Params, PartMoments, Parts

LEAST_RATE = 1e-5
"""The KL divergence lowers the learning rate no further."""
ADAM = optax.scale_by_adam(eps=1e-5)
"""Without its learning rate, which adapts to the KL divergence and lives in the state."""


def init_optimizer(params: Parts) -> PartMoments:
    """Moments of each part, each with its own count: the actor may wait while the critic learns."""
    return {part: ADAM.init(ravel_pytree(params[part])[0]) for part in params}


def optimizer_step(
    config: TrainConfig, grads: Parts, moments: PartMoments, moves: jax.Array
) -> tuple[Parts, PartMoments]:
    """Return the steps of both parts, to be scaled by the learning rate, and the moments after them.

    While the actor waits (`moves` is 0) its gradients don't count: gradients of zero would use up
    Adam's correction of its first steps, which would then be three times too long.
    """
    flat = {part: ravel_pytree(tree) for part, tree in grads.items()}
    slopes = {part: slope for part, (slope, _) in flat.items()}
    slopes["actor"] *= moves
    clip = optax.clip_by_global_norm(config.max_grad_norm)
    clipped: Params = clip.update(slopes, optax.EmptyState())[0]
    both: dict[str, tuple[Params, Moments]] = {part: ADAM.update(clipped[part], moments[part]) for part in clipped}
    steps, after = ({part: pair[i] for part, pair in both.items()} for i in (0, 1))
    steps["actor"] *= moves
    after["actor"] = jax.tree.map(lambda new, old: jnp.where(moves, new, old), after["actor"], moments["actor"])
    return {part: flat[part][1](step) for part, step in steps.items()}, after


def take_step(config: TrainConfig, params: Parts, steps: Parts, rate: jax.Array) -> Parts:
    """Both parts after their steps: the actor's times `rate`, the critic's times its own rate if the recipe has one."""
    rates = {"actor": rate, "critic": jnp.asarray(config.critic_learning_rate or rate)}
    rates = jax.lax.optimization_barrier(rates)  # as a constant it would change how the actor is rounded
    return {part: jax.tree.map(lambda p, u, r=rates[part]: p - r * u, params[part], steps[part]) for part in params}


def move(
    config: TrainConfig, params: Params, grads: Params, moments: Moments, rate: jax.Array | float
) -> tuple[Params, Moments]:
    """One step of Adam of one part by itself, its gradient clipped: (parameters, moments) after it."""
    slope, shaped = ravel_pytree(grads)
    clipped = optax.clip_by_global_norm(config.max_grad_norm).update(slope, optax.EmptyState())[0]
    steps: Params
    steps, moments = ADAM.update(clipped, moments)
    return jax.tree.map(lambda p, u: p - rate * u, params, shaped(steps)), moments


def norm(params: Params) -> jax.Array:
    """[] Euclidean length of all parameters."""
    return optax.global_norm(ravel_pytree(params)[0])


def adapt_learning_rate(rate: jax.Array, kl: jax.Array, target: jax.Array, top: float) -> jax.Array:
    """Return a lower rate if the policy moved more than twice the target, a higher one below half the
    target, up to the top.

    The target is a ceiling: a policy that moves little may have nothing but noise in its gradient, and
    no rate makes that better.
    """
    factor = jnp.where(kl > 2 * target, 1 / 1.3, jnp.where(kl < target / 2, 1.3, 1.0))
    return jnp.clip(rate * factor, LEAST_RATE, top)
