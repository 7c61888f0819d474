"""Make the films of the README again: each bundle flies on MuJoCo, filmed by `robomarl view --film`, then made small.

Run it after a change of the renderer or of a bundle: `python docs/films.py [NAME ...]` (some minutes).
"""

import sys
import tempfile
from pathlib import Path

from robomarl.front.view.subject import Choice, Kind, filmed, subject_of
from robomarl.lab.scene.files import write_smaller_gif

MOST_BYTES = 1_000_000
"""A README that loads slowly is not read."""
FILMS = {"swap_4": 7.0, "lift_3": 9.0, "soccer_2v2": 18.0, "passage_4": 34.0, "volley_3v3": 10.0}
"""Bundle -> time of the robots that is filmed [s]."""
KINDS: dict[str, Kind] = {"volley_3v3": "scenario"}
"""Films of a scenario's own teams: there the bundle wins at its first attack."""


def main(names: list[str]) -> None:
    """Write docs/NAME.gif for every name, all by default."""
    for name in names or FILMS:
        with tempfile.TemporaryDirectory() as folder, subject_of(Choice(name, KINDS.get(name, "auto"))) as subject:
            large = Path(folder) / f"{name}.gif"
            filmed(subject, large, FILMS[name])
            small = Path(__file__).with_name(f"{name}.gif")
            write_smaller_gif(large, small, MOST_BYTES)
        print(f"{small.name}: {small.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
