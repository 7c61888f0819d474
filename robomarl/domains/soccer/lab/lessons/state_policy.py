"""Fit of a state policy: `python -m robomarl.domains.soccer.lab.lessons.state_policy OUT --lessons FILE ...`.

The actor of a run or bundle is fitted to the teacher's actions, by the squared error, along whole matches with its
memory. The result is a run folder like that of a training.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import tyro
from tqdm import tqdm

from robomarl.core.config import UserError
from robomarl.domains.soccer.lab.lessons.lesson import Lessons, divided, read_lessons, robots_in
from robomarl.lab.train.algorithm import init_state
from robomarl.lab.train.imitation import zeros_of
from robomarl.lab.train.networks import Networks
from robomarl.lab.train.run.bundle_as_run import run_of
from robomarl.lab.train.run.run_folder import Run, create_run
from robomarl.lab.train.run.storage import save_state
from robomarl.lab.train.run.weights import weights_of, with_weights
from robomarl.lab.trees import Moments, Params


@dataclass(frozen=True)
class StatePolicyConfig:
    """How the actor is fitted."""

    out: tyro.conf.Positional[Path]
    """Run folder to make."""
    lessons: tuple[Path, ...] = ()
    """Files of `robomarl.domains.soccer.lab.lessons.record`."""
    start: str = "soccer_2v2_eyes"
    """Name of the bundle or run that gives the actor."""
    passes: int = 8
    """Passes over the lessons."""
    rate: float = 3e-4
    """Largest learning rate; it rises over the first twentieth and falls as a cosine."""
    unroll: int = 50
    """Decisions through which a gradient goes back."""
    rows: int = 32
    """Robots of a gradient step."""
    held_out: float = 0.15
    """Share of the matches that is kept apart; the weights that fit these best are the result."""
    seed: int = 0
    """Order of the steps."""


class MatchRows(NamedTuple):
    """Consecutive decisions of some robots, time first."""

    obs: jax.Array
    """[T, B, O]"""
    wanted: jax.Array
    """[T, B, A]"""


def fit_policy(config: StatePolicyConfig) -> tuple[float, float]:
    """Write the run folder; return the squared error on the matches kept apart before and after the fit.

    Raises:
        UserError: no lessons, lessons of another observation, or the folder exists.
    """
    run = run_of(config.start)
    lessons = read_lessons(list(config.lessons))
    kept, apart = map(rows_of, divided(lessons, config.held_out, config.unroll))
    if kept.obs.shape[-1] != run.env.observation_size:
        raise UserError(
            f"--lessons: an observation has {kept.obs.shape[-1]} numbers, that of {config.start} "
            f"{run.env.observation_size}; record them with this student."
        )
    create_run(config.out, run.config, run.scenario, config.seed, run.ancestry)
    actor, errors = improved(config, run, kept, apart)
    weights = weights_of(run.state._replace(params={**run.state.params, "actor": actor}, averaged=()))
    shapes = jax.eval_shape(partial(init_state, run.config, run.env), jax.random.key(config.seed))
    state = with_weights(jax.tree.map(zeros_of, shapes), weights, config.start)
    save_state(config.out / "checkpoint.npz", jax.device_put(state))
    return errors


def rows_of(lessons: Lessons) -> MatchRows:
    """Return the observations and the teacher's actions of all robots of the matches."""
    return MatchRows(jnp.asarray(robots_in(lessons.obs)), jnp.asarray(robots_in(lessons.wanted)))


def improved(
    config: StatePolicyConfig, run: Run, kept: MatchRows, apart: MatchRows
) -> tuple[Params, tuple[float, float]]:
    """Return the actor that fits the matches kept apart best, and their errors before and after."""
    pieces = len(kept.obs) // config.unroll * max(1, kept.obs.shape[1] // config.rows)
    total = config.passes * pieces
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adam(optax.warmup_cosine_decay_schedule(0.0, config.rate, max(1, total // 20), total)),
    )
    judge = jax.jit(partial(error_of, run))
    step = jax.jit(partial(_step, run, optimizer))
    actor: Params = jax.tree.map(jnp.asarray, run.params)
    moments = optimizer.init(actor)
    first = least = float(judge(actor, run.networks.init_carry((apart.obs.shape[1],)), apart)[0])
    best, random = actor, np.random.default_rng(config.seed)
    with tqdm(total=total, desc="fit", disable=None) as bar:
        for _ in range(config.passes):
            for rows in _batches(random, kept.obs.shape[1], config.rows):
                carry = run.networks.init_carry((len(rows),))
                for piece in _pieces(kept, rows, config.unroll):
                    actor, moments, carry, error = step(actor, moments, carry, piece)
                    bar.update()
            found = float(judge(actor, run.networks.init_carry((apart.obs.shape[1],)), apart)[0])
            bar.set_postfix_str(f"error {found:.4f} of {first:.4f}")
            best, least = (actor, found) if found < least else (best, least)
    return best, (first, least)


def _batches(random: np.random.Generator, count: int, size: int) -> Iterator[np.ndarray]:
    order = random.permutation(count)
    for start in range(0, max(1, count // size) * size, size):
        yield order[start : start + size]


def _pieces(kept: MatchRows, rows: np.ndarray, unroll: int) -> Iterator[MatchRows]:
    for start in range(0, len(kept.obs) - unroll + 1, unroll):
        yield MatchRows(*(part[start : start + unroll, rows] for part in kept))


def error_of(run: Run, actor: Params, carry: tuple, piece: MatchRows) -> tuple[jax.Array, tuple]:
    """Return the mean squared error of the action along a piece, and the memory after it."""
    networks: Networks = run.networks
    obs = networks.normalize(piece.obs, run.state.obs_stats)

    def decide(memory: tuple, row: jax.Array) -> tuple[tuple, jax.Array]:
        memory, output = networks.act(actor, memory, row)
        return memory, jnp.tanh(jnp.split(output, 2, axis=-1)[0])

    carry, action = jax.lax.scan(decide, carry, obs)
    return ((action - piece.wanted) ** 2).mean(), carry


def _step(
    run: Run, optimizer: optax.GradientTransformation, actor: Params, moments: Moments, carry: tuple, piece: MatchRows
) -> tuple[Params, Moments, tuple, jax.Array]:
    (error, carry), gradient = jax.value_and_grad(partial(error_of, run), has_aux=True)(actor, carry, piece)
    moves, moments = optimizer.update(gradient, moments, actor)
    return optax.apply_updates(actor, moves), moments, jax.lax.stop_gradient(carry), error


def main() -> None:
    """Fit as the command line says; a mistake of the user ends it with one sentence."""
    config = tyro.cli(StatePolicyConfig)
    try:
        before, after = fit_policy(config)
    except UserError as error:
        raise SystemExit(str(error)) from None
    print(f"run: {config.out}, squared error {before:.4f} before, {after:.4f} after")


if __name__ == "__main__":
    main()
