"""Colours of robots, equal in plots, pages, films and the viewer. Imports nothing, so that pages need no simulator."""

ROBOTS = ("#0069b4", "#d1560a", "#00805f", "#b8458c", "#3a9bd1", "#7a5c00", "#3d1f8f", "#6d757d")
"""The first four differ for every kind of colour vision and have a contrast of at least 4 on white."""
LIGHTER = 0.1
"""Share of white that each further round of the colours has, so that large teams have no two equal ones."""


def team_colours(count: int) -> tuple[tuple[int, int, int], ...]:
    """Return red, green and blue (0 to 255) for each robot of a team; from the ninth on lighter ones."""
    return tuple(_mixed(ROBOTS[index % len(ROBOTS)], LIGHTER * (index // len(ROBOTS) % 8)) for index in range(count))


def _mixed(colour: str, white: float) -> tuple[int, int, int]:
    """Return a colour with a share of white in it."""
    red, green, blue = (round(part + white * (255 - part)) for part in bytes.fromhex(colour[1:]))
    return red, green, blue
