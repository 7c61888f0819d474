"""Several actors in one policy: on each field the one that was trained there decides.

Teams of two and of three play different games on fields of different length, and an actor of one size gave one game for
the other (docs/benchmarks.md). A robot knows how long its field is, so who decides is known before the match, not learned:
a mixture of experts (Jacobs et al., Neural Computation 1991) with a gate that is given.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.config import UserError
from robomarl.spec import ObservationSpec

PolicyFn = Callable[[tuple, jax.Array], tuple[tuple, jax.Array]]
PLACE, GOAL = "own_motion.x", "goal_ahead.dx"
"""Elements of the observation whose sum is half of the field's length, whatever the error of the own pose is."""
APART_M = 0.2
"""Fields whose lengths differ by less can't be told apart."""


def by_field(policies: Sequence[PolicyFn], lengths_m: Sequence[float], observation: ObservationSpec) -> PolicyFn:
    """One policy of several that have memories of the same shape.

    Args:
        policies: (carry, obs [..., O]) -> (carry, action [..., A]).
        lengths_m: of the field where each was trained, from goal to goal.
        observation: of all.
    """
    names = observation.element_names()
    place, goal = names.index(PLACE), names.index(GOAL)
    order = np.argsort(lengths_m)
    halves = [lengths_m[i] / 2 for i in order]

    def policy(carry: tuple, obs: jax.Array) -> tuple[tuple, jax.Array]:
        half = obs[..., place, None] + obs[..., goal, None]
        first, *others = (policies[i](carry, obs) for i in order)
        for (shorter, longer), other in zip(pairwise(halves), others, strict=True):
            is_longer = half > (shorter + longer) / 2
            first = jax.tree.map(lambda a, b, here=is_longer: jnp.where(here, b, a), first, other)
        return first

    return policy


def check_experts(names: Sequence[str], observations: Sequence[ObservationSpec], lengths_m: Sequence[float]) -> None:
    """Whether these may decide in one policy.

    Raises:
        UserError: they see different things, or one can't tell their fields apart; names the first two.
    """
    for name, observation in zip(names, observations, strict=True):
        if observation != observations[0]:
            raise UserError(f"--expert {name}: sees something else than {names[0]}; train both with one observation.")
    if not {PLACE, GOAL} <= set(observations[0].element_names()):
        raise UserError(f"--expert {names[1]}: {names[0]} does not play on a field whose length it knows; leave it out.")
    order = np.argsort(lengths_m)
    for a, b in pairwise(order):
        if lengths_m[b] - lengths_m[a] < APART_M:
            raise UserError(
                f"--expert: {names[a]} and {names[b]} were trained on fields of {lengths_m[a]:g} and {lengths_m[b]:g} m; "
                "name one of them only."
            )


def weights_for(weights: Mapping[str, np.ndarray], scenario: str) -> Mapping[str, np.ndarray]:
    """Of the weights of a bundle those of the actor for this scenario; of the first one where there is no other."""
    mine = {name: value for name, value in weights.items() if name.startswith(f"{scenario}/")}
    if not mine:
        return {name: value for name, value in weights.items() if name.startswith("[")}
    return {name.removeprefix(f"{scenario}/"): value for name, value in mine.items()}
