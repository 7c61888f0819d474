"""Names in the words of `robomarl train`: a run to go on with, or a team of another size than a file has."""

import difflib
import re
from pathlib import Path

from robomarl.core.config import UsageError, UserError


def named_run(word: str, out: Path | None) -> Path:
    """Return the folder of the run that `--resume` goes on with.

    Args:
        word: the folder or, if the run is at its usual place, its scenario; may be empty.
        out: value of `--out`; goes first.

    Raises:
        UserError: neither is given; the message says which runs there are.
    """
    if out:
        return out
    if word:
        given = Path(word)
        return given if any(given.glob("**/config.json")) else Path("runs") / given.stem
    found = sorted(str(file.parent) for file in Path("runs").glob("**/config.json"))
    raise UsageError(
        "--resume goes on with a run: name its folder, as in `robomarl train --resume --out runs/swap_4`; "
        f"those below runs/: {', '.join(found) or 'none'}."
    )


def team_scenario(name: str, count: int | None) -> str:
    """Return the scenario to train; a size of team that no file has is never taken from a name, which may
    be a slip.

    Args:
        name: name on the command line.
        count: number of robots that is asked for explicitly.

    Raises:
        UserError: the name is of a family, NAME_N, but has no file; or the family of a scenario without
            one is asked for.
    """
    from robomarl.core.hardware.scenario_files import has_file, scenario_names

    family, _, number = name.rpartition("_")
    if count is not None:
        if not (family and number.isdigit()):
            raise UsageError(
                f"--count {count}: the name {name} ends with no number; write count into a file of your own."
            )
        return f"{family}_{count}"
    members = [other for other in scenario_names() if re.fullmatch(rf"{re.escape(family)}_\d+", other)]
    if has_file(name) or not (number.isdigit() and members):
        return name
    meant = difflib.get_close_matches(name, members, 1, 0.0)[0]
    raise UserError(
        f"Unknown scenario {name!r}: no file {name}.toml; did you mean {meant!r}? A team of {int(number)} is trained "
        f"with `{meant} --count {int(number)}`."
    )
