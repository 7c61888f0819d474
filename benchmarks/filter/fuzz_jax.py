"""The backends in JAX for `fuzz`, in double precision: the filter of training, and the text that graphs are made of.

Operation by operation, without a compiler over all: it would start anew for every number of mates and strangers.
"""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.filter import fuzz
from benchmarks.filter.uglies import Case
from robomarl.core.filter.memory import LARGE


def backends() -> dict[str, fuzz.Decide]:
    """Both. What graphs round at their ports, which are single, is not in it; `graph_ok` runs the graph itself."""
    import jax.numpy as jnp

    from robomarl.core.filter.decision import Library
    from robomarl.core.filter.qp.projection import TOLERANCE
    from robomarl.lab.jax_filter import static as jax_static
    from robomarl.lab.jax_filter.filter import least_open, project

    training = Library(jnp, partial(project, tolerance=TOLERANCE), repeat=least_open)
    return {"JAX": partial(_decide, training), "the graph's text": partial(_decide, jax_static._STATIC)}


def _decide(library: Any, params: fuzz.Params, case: Case) -> dict[str, np.ndarray]:
    import jax

    from robomarl.core.filter import body_rates
    from robomarl.core.filter.decision import filter_batch
    from robomarl.core.filter.model.constants import constants_of

    decide = partial(filter_batch, constants_of(params), library)
    with jax.enable_x64(True):
        given = jax.tree.map(jax.numpy.asarray, tuple(case))
        carries = case.nominal.shape[-1] == body_rates.WIDTH
        found = body_rates.filter_carrier(decide, *given) if carries else decide(*given)
        said = fuzz.read(jax.tree.map(np.asarray, found))
    # Without an estimate, or with an old one, `SafetyFilter` alone flies blind: such decisions are not compared.
    lost, right = _is_lost(case, constants_of(params).max_own_age_s), fuzz.many("numpy")(params, case)
    return {k: np.where(lost.reshape(-1, *[1] * (v.ndim - 1)), right[k], v) for k, v in said.items()}


def _is_lost(case: Case, oldest_s: float) -> np.ndarray:
    """[E] bool: the own state is no number that can be meant, or older than `oldest_s` [s]."""
    own = case.view.own
    age = np.asarray(own.age_s)[:, None]
    state = np.concatenate([own.pos_m, own.vel_m_s, age], -1)
    return np.asarray(~(np.abs(state) < LARGE).all(-1) | (np.abs(age[:, 0]) > oldest_s))
