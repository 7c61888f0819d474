"""Layouts of the files that people edit have numbers. Steps make of a file of version n one of version n + 1.

The number rises when a key is renamed, removed or required, or when it comes to mean something else. A new key that
may be left out does not raise it. A step never gives a name that an older version had to something else, so that a file
without a number, which extends another, can be read as one of the first version.
"""

from collections.abc import Callable, Mapping
from typing import Any

Content = dict[str, Any]
Step = Callable[[Content, str], Content]
"""From the content of one version to that of the next; the text is the file, for errors."""


def newest(steps: Mapping[int, Step]) -> int:
    """The version that the last of the steps makes."""
    return max(steps) + 1


def migrated(content: Any, steps: Mapping[int, Step], file: str) -> Any:
    """The content as the newest version says it.

    What is no table, or has a version that is no number or not known, is returned as it is: `config.build` says what is
    wrong.

    Args:
        content: of a parsed file. Without `version` it counts as of the first one.
        steps: by the version that they begin with.
        file: for errors.

    Raises:
        UserError: the file says what no later version can.
    """
    version = content.get("version", 1) if isinstance(content, dict) else None
    if isinstance(version, bool) or not isinstance(version, int) or not 0 < version < newest(steps):
        return content
    for number in range(version, newest(steps)):
        content = steps[number](content, file)
    return {**content, "version": newest(steps)} if "version" in content else content
