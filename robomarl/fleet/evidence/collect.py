"""The robots' journals on the operator's machine: they only grow, regardless of the fate of the robots."""

from pathlib import Path

from robomarl.core.config import UserError
from robomarl.fleet.disk import replace_durably, written
from robomarl.fleet.evidence.chain import check
from robomarl.fleet.serve import Facts


def collect(file: Path, old: bytes, now: bytes) -> tuple[Facts, str]:
    """Append a robot's journal to the lines collected before.

    Args:
        file: file of the collected lines; made if it is missing, left unchanged if the journal does not
            continue it.
        old: the robot's `journal.old.jsonl`.
        now: its `journal.jsonl`.

    Returns:
        `lines`, `new`, `unlinked` (from before the chain) and `file`; and the problem, one sentence or
        nothing.

    Raises:
        UserError: the folder can't be read or written.
    """
    problem = ""
    found_old, found = check(old, before=None), check(now, before=old)
    for name, one in (("journal.old.jsonl", found_old), ("journal.jsonl", found)):
        if one.broken and not problem:
            problem = f"{name}, line {one.broken}: does not follow from the line before; somebody changed the journal."
    try:
        had = file.read_bytes() if file.exists() else b""
    except OSError as error:
        raise UserError(f"{file}: can't be read ({error.strerror}); mend its permissions.") from None
    rest, gap = _going_on(had, old + now)
    problem = problem or gap
    if not problem and rest:
        with written(file.parent):
            replace_durably(file, had + rest, file.with_suffix(".new"))
    facts = {"lines": found_old.lines + found.lines, "new": 0 if problem else rest.count(b"\n")}
    return {**facts, "unlinked": found_old.unlinked + found.unlinked, "file": str(file)}, problem


def _going_on(had: bytes, has: bytes) -> tuple[bytes, str]:
    """Return the new lines of a journal, and the problem if it does not continue the collected lines.

    The robot sets the oldest lines aside after a while, so its present journal begins anywhere in the
    collected lines.
    """
    if has.startswith(had):
        return has[len(had) :], ""
    lines, theirs = had.splitlines(keepends=True), has.splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if theirs and line == theirs[0]), None)
    if start is None:
        return b"", "does not go on from what was collected before: lines are gone, or it was begun anew."
    for number, (mine, other) in enumerate(zip(lines[start:], theirs, strict=False), start + 1):
        if mine != other and not (number == len(lines) and other.startswith(mine)):
            return b"", f"line {number} of what was collected reads differently now; somebody changed the journal."
    if len(theirs) < len(lines) - start:
        gone = start + len(theirs) + 1
        return b"", f"ends before line {gone} of what was collected; somebody removed lines."
    return has[len(b"".join(lines[start:])) :], ""
