"""What the tests of several devices compute, in a process with four: `python -m tests.lab.train.devices.on_four WHAT`.

The number of a CPU's devices is chosen before JAX begins, so that no process of other tests can have four.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from robomarl.lab.sim.engines.batch_last import vmap_last
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import init_state, make_update, training_env
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.devices.across import ALONE, AXIS, Devices
from robomarl.lab.train.devices.divide import mesh_of, placed
from robomarl.lab.train.run.options import Rows, RunOptions
from robomarl.lab.train.run.run_folder import load_run
from robomarl.lab.train.run.runner import train_run
from robomarl.lab.train.state import PlayAndLearn
from tests.lab.train.devices.compiled import conditions, in_conditions

FOUR = Devices(4)
SMALL = TrainConfig(
    num_envs=16, unroll=4, epochs=2, minibatches=2, total_steps=20 * 16 * 4 * 4, network=NetworkConfig((16,), (16,))
)
"""Twenty updates of swap_4."""


def sums() -> dict:
    """Sums over devices beside those of the whole array."""
    x = jax.random.normal(jax.random.key(0), (16, 3))

    def each(rows: jax.Array) -> tuple[jax.Array, ...]:
        again = FOUR.own(FOUR.gathered(rows))
        figures = (FOUR.mean(rows.mean()), FOUR.sum(rows.sum()), FOUR.variance(rows))
        return (*figures, FOUR.least(rows.min()), FOUR.greatest(rows.max()), jnp.abs(again - rows).max())

    program = jax.shard_map(each, mesh=mesh_of(FOUR), in_specs=P(AXIS), out_specs=P(), check_vma=False)
    whole = (ALONE.mean(x.mean()), ALONE.sum(x.sum()), ALONE.variance(x), ALONE.least(x.min()), x.max(), jnp.zeros(()))
    return {"four": [*map(float, jax.jit(program)(x))], "one": [*map(float, whole)]}


def loops() -> dict:
    """A loop that ends when the last environment is done: under `shard_map`, and as a sharded `vmap`."""
    many = vmap_last(lambda x: jax.lax.while_loop(lambda x: x < 100.0, lambda x: x * 1.5, x))
    mesh = mesh_of(FOUR)
    divided = jax.shard_map(many, mesh=mesh, in_specs=P(AXIS), out_specs=P(AXIS), check_vma=False)
    x = jax.device_put(jnp.arange(1.0, 17.0), NamedSharding(mesh, P(AXIS)))
    texts = [jax.jit(way).lower(x).compile().as_text() for way in (divided, many)]
    return {name: found(text) for name, text in zip(("shard_map", "vmap"), texts, strict=True)}


def filtered() -> dict:
    """The same of all parts of an update of swap_4 behind the safety filter; as a sharded `vmap` the rollout only."""
    config = replace(SMALL, filter="qp", unroll=2)
    env = training_env(config, load_scenario("swap_4"))
    state = placed(jax.eval_shape(partial(init_state, config, env), jax.random.key(0)), FOUR, 1)
    parts, alone = (make_update(config, env, devices=devices) for devices in (FOUR, ALONE))
    assert isinstance(parts, PlayAndLearn) and isinstance(alone, PlayAndLearn)
    play = jax.jit(parts.play).lower(state, state.env)
    programs = {
        "starts": jax.jit(parts.starts).lower(state),
        "play": play,
        "learn": jax.jit(parts.learn).lower(*play.out_info),
        "vmap": jax.jit(alone.play).lower(state, state.env),
    }
    return {name: found(program.compile().as_text()) for name, program in programs.items()}


def found(text: str | None) -> dict:
    """Number of loops, and collectives in their conditions."""
    assert text, "the compiler shows its program"
    return {"loops": len(conditions(text)), "collectives": in_conditions(text)}


def trained() -> dict:
    """Metrics of twenty updates of two seeds on one device and on four, and on four after ten on one."""
    with TemporaryDirectory() as folder:
        out, rows = Path(folder), {name: [] for name in ("one", "four", "other")}
        run(out / "one", rows["one"])
        run(out / "four", rows["four"], devices=4)
        run(out / "other", rows["other"], minutes=0)
        run(out / "other", rows["other"], devices=4, resume=True)
        ends = [load_run(out / name / "seed_1").state.params for name in rows]
    flat = [np.concatenate([np.ravel(x) for x in jax.tree.leaves(end)]).tolist() for end in ends]
    return {"rows": rows, "parameters": dict(zip(rows, flat, strict=True))}


def run(out: Path, rows: list[Rows], **more) -> None:
    """Train two seeds, and keep the metrics of every update."""
    keep = lambda _, row: rows.append([{k: v for k, v in one.items() if k != "seconds"} for one in row])  # noqa: E731
    train_run(
        SMALL, load_scenario("swap_4"), RunOptions(out, seeds=2, quiet=True, evaluations=0, on_update=keep, **more)
    )


CALLS: dict[str, Callable[[], dict]] = {f.__name__: f for f in (sums, loops, filtered, trained)}

if __name__ == "__main__":
    results = {name: CALLS[name]() for name in sys.argv[2:]}
    Path(sys.argv[1]).write_text(json.dumps(results))
