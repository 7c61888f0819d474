"""Under which conditions a vehicle is measured: every corner of what its scenarios randomize."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

HELD_OUT = ("weak_battery", "heavy")
"""Variations that training never sees and that flights are judged with: they count where a scenario has them."""
WEATHER = ("wind_m_s", "gust_m_s")
"""Always at its worst: as every command is flown both ways, calm lies between a wind and the same from behind."""


@dataclass(frozen=True)
class Condition:
    """What is true of one flight, by the names of the section `randomize`."""

    variation: str
    """`training`, or the name of a held-out variation."""
    values: tuple[tuple[str, float], ...]
    """Parameter and value, in the order of the names."""
    delays_s: tuple[float, float] = (0.0, 0.0)
    """Of the link: least and largest; they differ where it changes from decision to decision."""

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
    """Every corner of the ranges, and of the same ranges with a held-out variation pinned.

    Args:
        ranges: parameter -> (low, high); with `delay_s`, and only those that the plant knows.
        held_out: of the scenario; what is not in `HELD_OUT`, or pins nothing in `ranges`, is left out.
    """
    found = _corners("training", dict(ranges))
    for name in HELD_OUT:
        pinned = {k: v for k, v in held_out.get(name, {}).items() if k in ranges}
        if pinned:
            found += _corners(name, {**ranges, **{k: (v, v) for k, v in pinned.items()}})
    return found


def distinct(found: Iterable[Condition]) -> list[Condition]:
    """Each condition once, whatever it is called; the first name stays."""
    seen: dict[Any, Condition] = {}
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
