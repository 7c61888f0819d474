"""The section `randomize` of a scenario file: parameters drawn anew for each episode, which `--perturb` can pin."""

from dataclasses import dataclass, fields

from robomarl.core.types import Array

Interval = tuple[float, float]


@dataclass(frozen=True)
class Randomize:
    """Randomized parameters of a scenario: intervals, none in this base class."""

    def __post_init__(self) -> None:
        """Check the intervals; raises `ValueError` where one is reversed or negative, or a probability is above 1."""
        ranges: dict[str, Interval] = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, (low, high) in ranges.items():
            if low > high or low < 0:
                raise ValueError(f"{name} = [{low:g}, {high:g}] must be [low, high] with 0 <= low <= high.")
        if ranges.get("packet_loss", (0.0, 0.0))[1] > 1:
            raise ValueError(f"packet_loss = {list(ranges['packet_loss'])} must end at 1 or below.")


def between(interval: Interval, draw: Array) -> Array:
    """A uniform draw in [0, 1) as one within the interval."""
    return interval[0] + (interval[1] - interval[0]) * draw
