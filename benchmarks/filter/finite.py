"""Campaign: projections in JAX, single precision, forward and backward; is every number of them one?"""

from typing import Any

import numpy as np

from benchmarks import Row
from benchmarks.filter.problems import KINDS, draw

COUNT = 1_000_000
ROWS = (4, 10)
"""A pair of robots in the plane; three mates, the speed limit and the input box, as in training."""
CHUNK = 20_000
NAMES = ("u", "gradient by rows", "gradient by point")


def rows() -> list[Row]:
    """A hundredth of `campaign(100_000_000)`, the whole one; `docs/log/benchmarks_history.md` has more."""
    return campaign(COUNT)


def campaign(count: int, seed: int = 0) -> list[Row]:
    """Project at least so many random, degenerate and infeasible problems, and differentiate the results."""
    from tqdm import tqdm

    random, step = np.random.default_rng(seed), make_step()
    done, bad, solved = 0, np.zeros(len(NAMES), int), 0
    with tqdm(total=count, desc="finite", unit="qp", disable=None) as bar:
        while done < count:
            for kind in KINDS:
                for m in ROWS:
                    good, wrong = step(*columns(kind, random, m))
                    bad, solved, done = bad + np.asarray(wrong), solved + int(good), done + CHUNK
                    bar.update(CHUNK)
    name = "JAX, f32, forward and backward"
    found = [Row(name, "projections", done, ""), Row(name, "solved", solved / done, "")]
    return found + [Row(name, f"{what}: not finite", int(n), "") for what, n in zip(NAMES, bad, strict=True)]


def columns(kind: str, random: np.random.Generator, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Problems as `qp.project_rows` takes them: [m, 4, P] and [3, P]."""
    problems = draw(kind, random, CHUNK, m)
    table = np.concatenate([problems.rows, problems.bounds[..., None]], -1)
    return np.moveaxis(table, 0, -1).astype(np.float32), problems.points.T.astype(np.float32)


def make_step() -> Any:
    """(rows, point) -> how many were solved, and in how many each of `NAMES` is not finite."""
    import jax
    import jax.numpy as jnp

    from robomarl.lab.jax_filter.filter import project

    def loss(table: jax.Array, point: jax.Array) -> tuple[jax.Array, Any]:
        found = project(table, point)
        # As the filter: what is not solved is not used.
        u: Any = jnp.where(found.solved, found.u, 0.0)
        return (u * jnp.cos(u)).sum(), (found.solved, u)

    def step(table: jax.Array, point: jax.Array) -> tuple[jax.Array, jax.Array]:
        (_, (solved, u)), (by_rows, by_point) = jax.value_and_grad(loss, (0, 1), has_aux=True)(table, point)
        parts = (u, by_rows.reshape(-1, u.shape[-1]), by_point)
        return solved.sum(), jnp.stack([(~jnp.isfinite(part).all(0)).sum() for part in parts])

    return jax.jit(step)
