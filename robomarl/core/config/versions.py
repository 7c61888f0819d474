"""Layouts of the files that people edit have numbers. Steps make of a file of version n one of version n + 1.

The number rises when a key is renamed, removed or required, or when it comes to mean something else. A new key that
may be left out does not raise it. A step never gives a name that an older version had to something else, so that a file
without a number, which extends another, can be read as one of the first version.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from robomarl.core.config.parsed import JsonObject, is_table

Content = TypeVar("Content")
Step = Callable[[JsonObject, str], JsonObject]
"""Migration of the content of one version to the next; the text argument is the file, for errors."""


def newest(steps: Mapping[int, Step]) -> int:
    """The version that the last of the steps makes."""
    return max(steps) + 1


def migrated(content: Content, steps: Mapping[int, Step], file: str) -> Content | JsonObject:
    """Return the content in the layout of the newest version.

    Content that is no table, or has a version that is no number or not known, is returned unchanged:
    `config.build` reports the mistake.

    Args:
        content: content of a parsed file. Without `version` it counts as the first version.
        steps: migrations by the version that they begin with.
        file: for errors.

    Raises:
        UserError: the file holds something that no later version can express.
    """
    if not is_table(content):
        return content
    table: JsonObject = content
    version = table.get("version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or not 0 < version < newest(steps):
        return table
    for number in range(version, newest(steps)):
        table = steps[number](table, file)
    return {**table, "version": newest(steps)} if "version" in table else table
