"""`Lessons`: recorded matches of our robots, and their files."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from robomarl.core.config import UserError


class Lessons(NamedTuple):
    """T decisions of our N robots in E matches."""

    obs: np.ndarray
    """[T, E, N, O] float32: what a state policy reads, as the robots believe it."""
    pixels: np.ndarray
    """[T, E, N, P] float32: what one network from pixels to commands reads (`PixelObserver`)."""
    wanted: np.ndarray
    """[T, E, N, A] float32 in [-1, 1]: the teacher's action."""
    heading: np.ndarray
    """[T, E, N] float32: true heading [rad], own team's field frame."""


def read_lessons(files: list[Path]) -> Lessons:
    """Return the matches of all files side by side; those of unlike lengths are cut to the shortest.

    Raises:
        UserError: no files, or one that is none of `robomarl.domains.soccer.lab.lessons.record`.
    """
    if not files:
        raise UserError("No lessons: name files that robomarl.domains.soccer.lab.lessons.record wrote.")
    every = [_read(file) for file in files]
    length = min(len(one.obs) for one in every)
    return Lessons(*(np.concatenate([part[:length] for part in column], 1) for column in zip(*every, strict=True)))


def divided(lessons: Lessons, share: float, unroll: int) -> tuple[Lessons, Lessons]:
    """Return most matches, and the last ones, that are kept apart.

    Args:
        lessons: all matches.
        share: of the matches that are kept apart, one at the least.
        unroll: number of decisions through which a gradient goes back.

    Raises:
        UserError: matches are shorter than that, or there is but one.
    """
    decisions, matches = lessons.obs.shape[:2]
    if decisions < unroll or matches < 2:
        raise UserError(
            f"--lessons: {matches} matches of {decisions} decisions; a fit needs 2 of {unroll}; record more of them."
        )
    apart = max(1, round(share * matches))
    return Lessons(*(part[:, :-apart] for part in lessons)), Lessons(*(part[:, -apart:] for part in lessons))


def robots_in(part: np.ndarray) -> np.ndarray:
    """[T, B, X] of [T, E, N, X]: the robots of all matches side by side."""
    return part.reshape(len(part), -1, part.shape[-1])


def _read(file: Path) -> Lessons:
    try:
        with np.load(file, allow_pickle=False) as data:
            return Lessons(*(data[name] for name in Lessons._fields))
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{file}: holds no lessons ({error}); record it anew.") from None


def write_lessons(file: Path, lessons: Lessons) -> None:
    """Write a file that appears whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(".tmp.npz")
    np.savez(temporary, **lessons._asdict())  # type: ignore[arg-type]
    temporary.replace(file)
