"""Makes policies with Brax, JaxMARL and Flax, which development has anyway; see `torch_corpus.py`."""

import pickle
from pathlib import Path
from typing import Any, NamedTuple

import flax.linen as nn
import flax.serialization
import jax
import jax.numpy as jnp
import numpy as np
from brax.io import model
from brax.training.acme import running_statistics
from brax.training.agents.ppo import networks as ppo
from brax.training.agents.sac import networks as sac

WIDTH, ACTIONS, STEPS = 38, 4, 12
NORMALIZE: Any = running_statistics.normalize
INPUTS = np.random.default_rng(1).normal(size=(STEPS, WIDTH)).astype(np.float32)


class Policy(NamedTuple):
    """A file, and what the library itself computes."""

    file: str
    exporter: str
    truth: np.ndarray
    contract: str = ""


def brax(folder: Path) -> list[Policy]:
    """Parameters as `ppo.train` and `sac.train` return them, saved by Brax."""
    key, found = jax.random.PRNGKey(0), []
    seen: Any = running_statistics.init_state(jnp.zeros(WIDTH))
    seen = running_statistics.update(seen, jnp.asarray(INPUTS) * 3 + 1)
    for kind in ("tanh_normal", "normal"):
        made = ppo.make_ppo_networks(WIDTH, ACTIONS, NORMALIZE, (32, 32), distribution_type=kind)
        params = (seen, made.policy_network.init(key), made.value_network.init(key))
        model.save_params(str(folder / f"ppo_{kind}"), params)
        act = ppo.make_inference_fn(made)(params, deterministic=True)
        found.append(Policy(f"ppo_{kind}", "brax", np.asarray(act(jnp.asarray(INPUTS), key)[0])))
    made = sac.make_sac_networks(WIDTH, ACTIONS, NORMALIZE, (32, 32))
    params = (seen, made.policy_network.init(key))
    (folder / "sac.pkl").write_bytes(pickle.dumps(jax.device_get(params)))
    act = sac.make_inference_fn(made)(params, deterministic=True)
    actions = np.asarray(act(jnp.asarray(INPUTS), key)[0])
    found.append(Policy("sac.pkl", "brax", actions, 'layout = "brax"\nactivation = "relu"'))
    shapes = {"state": (WIDTH,), "privileged_state": (50,)}
    made = ppo.make_ppo_networks(shapes, ACTIONS, NORMALIZE, (32,), value_obs_key="privileged_state")
    both: Any = running_statistics.init_state({name: jnp.zeros(shape) for name, shape in shapes.items()})
    batch = {"state": jnp.asarray(INPUTS) * 2 - 1, "privileged_state": jnp.ones((STEPS, 50))}
    params = (running_statistics.update(both, batch), made.policy_network.init(key), made.value_network.init(key))
    model.save_params(str(folder / "playground"), params)
    act = ppo.make_inference_fn(made)(params, deterministic=True)
    actions = np.asarray(act({**batch, "state": jnp.asarray(INPUTS)}, key)[0])
    return [*found, Policy("playground", "brax", actions)]


def chain(x: Any, activation: Any, *sizes: int) -> Any:
    """Dense layers, numbered by Flax in the order in which they are made."""
    for size in sizes[:-1]:
        x = activation(nn.Dense(size)(x))
    return nn.Dense(sizes[-1])(x)


class ActorCritic(nn.Module):
    """Layers in the order of JaxMARL's ippo_ff_mabrax, which is a script and not in its package."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        out = chain(x, nn.tanh, 32, 32, ACTIONS)
        self.param("log_std", nn.initializers.zeros, (ACTIONS,))
        return out, chain(x, nn.tanh, 32, 32, 1)


class Scanned(nn.Module):
    """The recurrent layer under the name that JaxMARL gives it."""

    @nn.compact
    def __call__(self, h: Any, x: Any) -> Any:
        return nn.GRUCell(16, name="GRUCell_0")(h, x)


class RecurrentActorCritic(nn.Module):
    """Layers in the order of JaxMARL's ippo_rnn."""

    @nn.compact
    def __call__(self, h: Any, x: Any) -> Any:
        h, x = Scanned(name="ScannedRNN_0")(h, nn.relu(nn.Dense(24)(x)))
        return h, (chain(x, nn.relu, 8, ACTIONS), chain(x, nn.relu, 8, 1))


def jaxmarl(folder: Path) -> list[Policy]:
    """Saved by JaxMARL's own `save_params`."""
    from jaxmarl.wrappers.baselines import save_params

    key, plain, recurrent = jax.random.PRNGKey(1), ActorCritic(), RecurrentActorCritic()
    params: Any = plain.init(key, INPUTS)
    save_params(params, folder / "ippo.safetensors")
    cell: Any = recurrent.init(key, jnp.zeros(16), INPUTS[0])
    save_params(cell, folder / "ippo_rnn.safetensors")
    h, outputs = jnp.zeros(16), []
    for row in INPUTS:
        h, (out, _) = recurrent.apply(cell, h, row)  # type: ignore[misc]
        outputs.append(np.asarray(out))
    return [
        Policy("ippo.safetensors", "jaxmarl", np.asarray(plain.apply(params, INPUTS)[0]), 'layout = "jaxmarl"'),
        Policy("ippo_rnn.safetensors", "jaxmarl", np.stack(outputs), 'layout = "jaxmarl"\nactivation = "relu"'),
    ]


class Actor(nn.Module):
    """Layers of cleanrl's td3_continuous_action_jax."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.tanh(chain(x, nn.relu, 32, 32, ACTIONS))


def flax_msgpack(folder: Path) -> list[Policy]:
    """Written by `flax.serialization.to_bytes`, alone and as cleanrl does, with its critics."""
    actor = Actor()
    params: Any = actor.init(jax.random.PRNGKey(2), INPUTS)
    truth, contract = np.asarray(actor.apply(params, INPUTS)), 'layout = "cleanrl"'
    (folder / "td3.cleanrl_model").write_bytes(flax.serialization.to_bytes([params, {"params": {"x": np.ones(3)}}]))
    (folder / "actor.msgpack").write_bytes(flax.serialization.to_bytes(params))
    return [Policy(f, "flax", truth, contract) for f in ("td3.cleanrl_model", "actor.msgpack")]


def make(folder: Path) -> list[Policy]:
    """Every policy of this file."""
    return [*brax(folder), *jaxmarl(folder), *flax_msgpack(folder)]
