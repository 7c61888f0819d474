"""The chain of a journal: a line that is changed, removed or added breaks the link of the next one.

A line's link is the sha256 of the content before it, from the last whole line on: that line, and
any text that a power cut tore since. Lines from before the chain have no link; the first link
covers all such lines.
"""

import hashlib
import json
from dataclasses import dataclass


@dataclass(frozen=True)
class ChainCheck:
    """Result of a journal's check."""

    lines: int
    """Whole lines."""
    broken: int = 0
    """Number of the first line, from 1, that does not follow from the content before it; 0 if all lines follow."""
    unlinked: int = 0
    """Lines from before the chain, at the beginning."""


def link_after(content: bytes) -> str:
    """The link of the next line."""
    return _hash(_since_whole(content.splitlines()))


def check(content: bytes, before: bytes | None = b"") -> ChainCheck:
    """Follow a journal's chain.

    Args:
        content: of its file.
        before: of the file that it follows; None where that is not at hand, and the first link is taken for good.
    """
    since = None if before is None else _since_whole(before.splitlines())
    linked = unlinked = whole = 0
    lines = content.splitlines()
    for number, line in enumerate(lines, 1):
        link = _link_of(line)
        if link is None:
            since = None if since is None else [*since, line]
            continue
        whole += 1
        if link and (since is None or link == _hash(since)):
            linked, since = linked + 1, [line]
        elif not link and not linked:
            unlinked, since = unlinked + 1, lines[:number]
        else:
            return ChainCheck(whole, number, unlinked)
    return ChainCheck(whole, 0, unlinked)


def _since_whole(lines: list[bytes]) -> list[bytes]:
    """Return the last line that has a link, and the lines after it; all lines if none has a link."""
    for i in range(len(lines) - 1, -1, -1):
        if _link_of(lines[i]):
            return lines[i:]
    return lines


def _link_of(line: bytes) -> str | None:
    """A line's link, empty where it has none; None where it is torn."""
    try:
        data = json.loads(line)
        return str(data.get("link", "")) if isinstance(data, dict) and "action" in data else None
    except (ValueError, RecursionError):
        return None


def _hash(lines: list[bytes]) -> str:
    return hashlib.sha256(b"\n".join(lines)).hexdigest()
