"""Train swap_2 through JaxMARL's interface, all in one compiled program, and make a sealed bundle of the actor."""

import sys
from functools import partial
from pathlib import Path

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from jaxmarl.wrappers.baselines import save_params

from robomarl.front.cli import main as robomarl
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.interfaces.multi_agent_env import JaxMarlTeam
from robomarl.lab.sim.scenario import load_scenario

log_prob = lambda mean, std, action: (-0.5 * jnp.square((action - mean) / std) - jnp.log(std)).sum(-1)  # noqa: E731
stacked = lambda env, by_robot: jnp.stack([by_robot[name] for name in env.agents], 1)  # noqa: E731
CONTRACT = 'scenario = "swap_2"\nlayout = "jaxmarl"\nactivation = "tanh"\n'


class ActorCritic(nn.Module):
    """The layers of JaxMARL's IPPO for continuous actions: Dense_0 to Dense_2 are the actor's."""

    size: int

    @nn.compact
    def __call__(self, obs: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Mean and deviation of the action, and value."""
        ends = []
        for size in (self.size, 1):
            hidden = nn.tanh(nn.Dense(64)(obs))
            hidden = nn.tanh(nn.Dense(64)(hidden))
            ends.append(nn.Dense(size)(hidden))
        return ends[0], jnp.exp(self.param("log_std", nn.initializers.constant(-1.0), (self.size,))), ends[1][..., 0]


def update(env, network, optimizer, length, run, _):
    """One rollout of `length` decisions, its advantages (GAE), and eight passes of PPO."""

    def decide(carry, key):
        (obs, state), (draw, reset) = carry, jax.random.split(key)
        mean, std, value = network.apply(run_params, obs)
        action = mean + std * jax.random.normal(draw, mean.shape)
        unit = {name: jnp.clip(action[:, i], -1, 1) for i, name in enumerate(env.agents)}
        new, state, reward, done, _ = jax.vmap(env.step)(jax.random.split(reset, len(obs)), state, unit)
        rows = (obs, action, log_prob(mean, std, action), value, stacked(env, reward), done["__all__"][:, None])
        return (stacked(env, new), state), rows

    (run_params, opt_state, carry, _), (key_new, *keys) = run, jax.random.split(run[3], length + 1)
    (obs, state), (seen, taken, before, value, reward, done) = jax.lax.scan(decide, carry, jnp.stack(keys))
    after = jnp.concatenate([value[1:], network.apply(run_params, obs)[2][None]])
    delta = reward + 0.99 * after * ~done - value
    _, advantage = jax.lax.scan(
        lambda a, x: (b := x[0] + 0.94 * ~x[1] * a, b), delta[0] * 0, (delta, done), reverse=True
    )

    def loss(params):
        mean, std, now = network.apply(params, seen)
        ratio = jnp.exp(log_prob(mean, std, taken) - before)
        gain = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        clipped = jnp.minimum(ratio * gain, jnp.clip(ratio, 0.8, 1.2) * gain)
        return 0.5 * jnp.square(now - value - advantage).mean() - clipped.mean()

    params = run_params
    for _ in range(8):
        changes, opt_state = optimizer.update(jax.grad(loss)(params), opt_state)
        params = optax.apply_updates(params, changes)
    return (params, opt_state, (obs, state), key_new), reward.mean()


def main(out: str = "runs/jaxmarl", updates: int = 200, teams: int = 64, length: int = 64) -> jax.Array:
    """Train, save the parameters as JaxMARL does, import them; gives the mean reward of every update."""
    env = JaxMarlTeam(make_env(load_scenario("swap_2")))
    network, optimizer = ActorCritic(env.action_spaces[env.agents[0]].shape[0]), optax.adam(1e-3)
    obs, state = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), teams))
    params = network.init(jax.random.key(1), stacked(env, obs))
    run = (params, optimizer.init(params), (stacked(env, obs), state), jax.random.key(2))
    (params, *_), rewards = jax.lax.scan(partial(update, env, network, optimizer, length), run, None, updates)
    print(f"reward of a robot's decision: {rewards[0]:.4f} at first, {rewards[-1]:.4f} at last")
    file, contract = Path(out) / "actor.safetensors", Path(out) / "contract.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    save_params(params, file)
    contract.write_text(CONTRACT)
    if robomarl(["import", str(file), str(file.parent / "bundle"), "--contract", str(contract)]):
        raise SystemExit("the policy was not imported.")
    return rewards


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
