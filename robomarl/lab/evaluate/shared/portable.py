"""`Portable`: an object that pickling does not copy, such as an opened graph; a worker opens it again."""

from collections.abc import Callable
from functools import partial
from typing import Generic, Protocol, TypeVar, runtime_checkable

from robomarl.core.bundle.runtime import Policy, open_policy
from robomarl.lab.evaluate.evaluation import FlownPolicy

V = TypeVar("V")


@runtime_checkable
class Reopened(Protocol):
    """Interface of policies that are read again instead of pickled."""

    def reopening(self) -> Callable[[], FlownPolicy]:
        """Return the function that reads the policy again."""
        ...


class Portable(Generic[V]):
    """A value, and after pickling the result of the function that makes it again."""

    def __init__(self, value: V, opening: Callable[[], V]) -> None:
        """Take the value, and the function, which is pickled."""
        self._value, self._opening = value, opening

    def __call__(self) -> V:
        """Return the value."""
        return self._value

    def __reduce__(self) -> "tuple[Callable[[Callable[[], V]], Portable[V]], tuple[Callable[[], V]]]":
        return opened, (self._opening,)


def opened(opening: Callable[[], V]) -> Portable[V]:
    """Make the value."""
    return Portable(opening(), opening)


def portable_policy(policy: FlownPolicy) -> Portable[FlownPolicy]:
    """Return the policy for workers; a bundle travels as its files, a run as the path of its folder."""
    if isinstance(policy, Policy):
        return Portable(policy, partial(open_policy, policy.bundle, False))
    return Portable(policy, policy.reopening() if isinstance(policy, Reopened) else partial(_itself, policy))


def _itself(policy: FlownPolicy) -> FlownPolicy:
    return policy
