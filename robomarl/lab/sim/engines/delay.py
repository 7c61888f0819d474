"""Commands that arrive late. Array-generic."""

from collections.abc import Sequence
from typing import Protocol

from robomarl.core.geometry import namespace
from robomarl.core.types import Array


class LateCommands(Protocol):
    """Parameters that are drawn for an episode."""

    @property
    def delay_substeps(self) -> Array:
        """[..., N] sub-steps by which a command comes late."""
        ...


class Delayed(Protocol):
    """A world in which each robot acts on its commands after a delay of its own."""

    @property
    def queue(self) -> Sequence[Array]:
        """Commands [..., N, A], the newest first."""
        ...

    @property
    def hidden(self) -> LateCommands:
        """Return the parameters drawn for the episode, of which `delay_substeps` [..., N] is read."""
        ...


def command_in_force(world: Delayed, substep: Array, substeps: int) -> tuple[Array, ...]:
    """Return the components of the command that the low-level controller holds in a sub-step, [..., N]
    each.

    `substep` counts from the latest decision. A robot with a delay of d sub-steps acts on the newest
    command from sub-step d on, before that on the one before, and so on.
    """
    xp = namespace(world.hidden.delay_substeps)
    parts = [tuple(c[..., i] for i in range(c.shape[-1])) for c in world.queue]
    held = parts[-1]
    for age in range(len(parts) - 2, -1, -1):
        arrived = world.hidden.delay_substeps <= substep + age * substeps
        held = tuple(xp.where(arrived, new, old) for new, old in zip(parts[age], held, strict=True))
    return held
