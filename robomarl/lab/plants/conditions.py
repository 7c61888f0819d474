"""Conditions under which a vehicle is measured: every corner of the ranges that its scenarios randomize."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

HELD_OUT = ("weak_battery", "heavy")
"""Variations that training never sees and that flights are judged with: they count where a scenario has them."""
WEATHER = ("wind_m_s", "gust_m_s")
"""Parameters that are always at their worst: every command is flown both ways, so calm lies between wind and tail
wind.
"""


@dataclass(frozen=True)
class Condition:
    """Parameter values of one flight, by the names of the section `randomize`."""

    variation: str
    """`training`, or the name of a held-out variation."""
    values: tuple[tuple[str, float], ...]
    """Parameter and value, in the order of the names."""
    delays_s: tuple[float, float] = (0.0, 0.0)
    """Least and largest delay [s] of the link; they differ if the delay changes from decision to decision."""

    def get(self, name: str, default: float) -> float:
        """The value of a parameter."""
        return dict(self.values).get(name, default)

    @property
    def label(self) -> str:
        """One line for tables."""
        low, high = self.delays_s
        link = f"link {high:g} s" if low == high else f"link {low:g} to {high:g} s"
        return ", ".join([self.variation, *(f"{k} {v:g}" for k, v in self.values), link])


def corners(ranges: Mapping[str, tuple[float, float]], held_out: Mapping[str, Mapping[str, float]]) -> list[Condition]:
    """Return every corner of the ranges, also with each held-out variation pinned.

    Args:
        ranges: parameter -> (low, high); with `delay_s`, and only those that the plant knows.
        held_out: variations of the scenario; one outside `HELD_OUT`, or that pins nothing in `ranges`,
            is left out.
    """
    found = _corners("training", dict(ranges))
    for name in HELD_OUT:
        pinned = {k: v for k, v in held_out.get(name, {}).items() if k in ranges}
        if pinned:
            found += _corners(name, {**ranges, **{k: (v, v) for k, v in pinned.items()}})
    return found


def distinct(found: Iterable[Condition]) -> list[Condition]:
    """Return each condition once, regardless of its name; the first name stays."""
    seen: dict[tuple, Condition] = {}
    for condition in found:
        seen.setdefault((condition.values, condition.delays_s), condition)
    return list(seen.values())


def _corners(variation: str, ranges: dict[str, tuple[float, float]]) -> list[Condition]:
    low, high = ranges.pop("delay_s", (0.0, 0.0))
    links = dict.fromkeys([(low, low), (high, high), (low, high)])
    ends = {name: (span[1],) if name in WEATHER else dict.fromkeys(span) for name, span in sorted(ranges.items())}
    return [
        Condition(variation, tuple(zip(ends, v, strict=True)), k)
        for v in itertools.product(*ends.values())
        for k in links
    ]
