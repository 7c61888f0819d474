"""Environments divided over several devices by `jax.shard_map`.

Why not a sharded `jax.vmap`: the loops of the safety filter run until the last environment is done. Under
`vmap` the condition of such a loop is about all environments, and on several devices it becomes an all-reduce
in every iteration. Under `shard_map` each device loops over its own, and waits for the others only where an
update sums gradients and statistics.
"""

from collections.abc import Callable

import jax
from brax.envs.base import State
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from robomarl.core.config import UserError
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.devices.across import AXIS, Devices
from robomarl.lab.train.state import Metrics, PlayAndLearn, Rollout, TrainState
from robomarl.lab.trees import Tree

DIVIDED = ("mappo", "ippo")
"""Algorithms that learn on several devices."""
ON_CPU = "XLA_FLAGS=--xla_force_host_platform_device_count"


def check_devices(config: TrainConfig, scenario: Scenario, devices: Devices) -> None:
    """Check that the run can be divided.

    Raises:
        UserError: the algorithm learns on one device only, there are fewer devices, or they can't have
            equal parts of environments and minibatches.
    """
    count, there = devices.count, jax.device_count()
    if count == 1:
        return
    is_game = simulation_of(scenario).games is not None
    if is_game or config.algorithm not in DIVIDED:
        what = f"{scenario.name} is a game" if is_game else f"algorithm = {config.algorithm!r}"
        raise UserError(f"--devices {count}: {what}; only {' and '.join(DIVIDED)} of teams learn on several devices.")
    batch = config.num_envs // config.minibatches
    for name, size in (("num_envs", config.num_envs), ("num_envs / minibatches", batch)):
        if size % count:
            raise UserError(f"--devices {count} must divide {name} = {size} of the recipe; change one of them.")
    if count > there:
        more = f"on a CPU, {ON_CPU}={count} makes that many" if jax.default_backend() == "cpu" else "name no more"
        raise UserError(f"--devices {count}: JAX has {there} here; {more}.")


def mesh_of(devices: Devices) -> Mesh:
    """The first devices of the process, in a row."""
    return Mesh(jax.devices()[: devices.count], (AXIS,))


def divided(parts: PlayAndLearn, noise: Callable[[TrainState], jax.Array], devices: Devices) -> PlayAndLearn:
    """The parts of an update, each on all devices.

    Args:
        parts: made for `devices`; its rollout takes the noise of its own environments as a third argument.
        noise: [T, B, ...] noise of the whole rollout. It is drawn outside of `shard_map`, where a counter-based
            generator gives each device its part of the draws that one device would make.
        devices: more than one.
    """
    mesh = mesh_of(devices)

    def run(part: Callable, given: tuple, result: Tree) -> Callable:
        # Unchecked, because `vmap_last` binds operations without the types that the check needs.
        return jax.shard_map(part, mesh=mesh, in_specs=given, out_specs=result, check_vma=False)

    def starts(state: TrainState) -> State:
        return run(parts.starts, (specs_of(state),), last_specs(state.env))(state)

    def play(state: TrainState, fresh: State) -> tuple[TrainState, Rollout]:
        along = P(None, AXIS)
        drawn = jax.lax.with_sharding_constraint(noise(state), NamedSharding(mesh, along))
        specs, played = specs_of(state), Rollout(P(AXIS), *[along] * (len(Rollout._fields) - 1))  # type: ignore[arg-type]
        program = run(parts.play, (specs, last_specs(fresh), along), (specs, played))
        return program(state, fresh, drawn)

    def learn(state: TrainState, rollout: Rollout) -> tuple[TrainState, Metrics]:
        specs, played = specs_of(state), jax.tree.map(lambda _: P(None, AXIS), rollout)
        played = played._replace(carry=jax.tree.map(lambda _: P(AXIS), rollout.carry))
        return run(parts.learn, (specs, played), (specs, P()))(state, rollout)

    return PlayAndLearn(starts, play, learn)


def last_specs(tree: Tree) -> Tree:
    """How arrays [..., B] are divided."""
    return jax.tree.map(lambda x: P(*(None,) * (x.ndim - 1), AXIS), tree)


def specs_of(state: TrainState) -> TrainState:
    """How a state is divided: its environments and their recurrent states are, and every device has the rest."""
    whole = jax.tree.map(lambda _: P(), state)
    return whole._replace(env=last_specs(state.env), carry=jax.tree.map(lambda _: P(AXIS), state.carry))


def placed(state: TrainState, devices: Devices, seeds: int) -> TrainState:
    """Return the state (or its shapes) on its devices; several seeds lie side by side on each device."""
    if devices.count == 1:
        return state
    mesh, first = mesh_of(devices), () if seeds == 1 else (None,)

    def on(x: jax.Array | jax.ShapeDtypeStruct, spec: P) -> jax.Array | jax.ShapeDtypeStruct:
        there = NamedSharding(mesh, P(*first, *spec))
        if isinstance(x, jax.ShapeDtypeStruct):
            return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=there)
        return jax.device_put(x, there)

    return jax.tree.map(on, state, specs_of(state if seeds == 1 else jax.eval_shape(first_of, state)))


def first_of(state: TrainState) -> TrainState:
    """The state of the first of several seeds."""
    return jax.tree.map(lambda x: x[0], state)
