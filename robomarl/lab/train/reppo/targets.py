"""Targets of an action-value function along a rollout."""

import jax
import jax.numpy as jnp


def soft_returns(
    reward: jax.Array,
    value: jax.Array,
    bonus: jax.Array,
    done: jax.Array,
    rates: tuple[float, float],
    cut: jax.Array | float = 0.0,
) -> jax.Array:
    """Return TD(lambda) targets with the entropy of later actions (Voelcker et al., ICLR 2026, section 4;
    Haarnoja et al., 2018).

    An action is worth its reward and the future, entropy included; its own entropy is the policy's to
    weigh: G[t] = r[t] + gamma (bonus[t+1] + (1 - lambda) Q[t+1] + lambda G[t+1]), and G[T] = Q[T].

    Args:
        reward: [T, ...].
        value: [T+1, ...] Q of observations and actions; the last row is of an action at the rollout's
            end.
        bonus: [T+1, ...] worth of the entropy of these actions, -temperature (log pi(a | s) + its
            target).
        done: [T, ...] 1 where the episode ended with this reward. Time-outs count as ends: the critic
            sees the time that is left, so that its values are those of the finite episode.
        rates: gamma and lambda.
        cut: [T, ...] 1 where only the observation of the episode stopped: then the future is worth the
            value of one decision before (Pardo et al., ICML 2018).

    Returns:
        [T, ...] targets of Q.
    """
    gamma, lam = rates
    soft, still = bonus + (1 - lam) * value, cut * (value + bonus)[:-1]

    def backwards(after: jax.Array, row: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
        gain, soft, keep, still = row
        target = gain + gamma * (keep * (soft + lam * after) + still)
        return target, target

    rows = (reward, soft[1:], 1 - done, jnp.broadcast_to(still, reward.shape))
    return jax.lax.scan(backwards, value[-1], rows, reverse=True)[1]
