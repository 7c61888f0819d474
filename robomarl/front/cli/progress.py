"""One progress line for each robot, on a terminal with `tqdm` installed; else nothing."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def robot_lines(names: list[str], steps: tuple[str, ...]) -> Iterator[Callable[[str, str], None]]:
    """Give a function (robot, step that begins) that moves the robot's line; any thread may call it."""
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:
        yield lambda name, step: None
        return
    width, lock, is_seen = max(map(len, names)), threading.Lock(), sys.stderr.isatty()
    form = "{desc} |{bar:20}| {postfix} {elapsed}"
    bars = {
        name: tqdm(
            total=len(steps) - 1,
            desc=name.ljust(width),
            position=i,
            bar_format=form,
            disable=not is_seen,
            leave=False,
        )
        for i, name in enumerate(names)
    }

    def move(name: str, step: str) -> None:
        with lock:
            bar = bars[name]
            if step in steps:
                bar.n = steps.index(step)
            bar.set_postfix_str(step)

    try:
        yield move
    finally:
        for bar in bars.values():
            bar.close()
