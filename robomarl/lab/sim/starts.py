"""Starts of training episodes in games: a section of recipes, for every game."""

from dataclasses import dataclass

from robomarl.core.config import Fraction


@dataclass(frozen=True)
class Starts:
    """How the episodes of training start that do not with a kick-off, as all of a match do."""

    anywhere: Fraction = 0.5
    """Share with robots and ball anywhere, the ball rolling."""
    set_pieces: Fraction = 0.15
    """Share with a set piece of ours."""
    alone: Fraction = 0.0
    """Fraction with a set piece in which all robots but the taker stand still, as in its evaluation: the policy must
    not count on a teammate that comes along. Part of `set_pieces`.
    """

    def __post_init__(self) -> None:
        """Check that `alone` is a part of `set_pieces`, and that the fractions sum to at most 1."""
        if self.alone > self.set_pieces:
            raise ValueError(f"alone = {self.alone:g} is a part of set_pieces = {self.set_pieces:g}.")
        if self.anywhere + self.set_pieces > 1:
            raise ValueError(f"anywhere = {self.anywhere:g} and set_pieces = {self.set_pieces:g} are more than all.")


KICK_OFF = Starts(0.0, 0.0)
"""Starts of a match."""
