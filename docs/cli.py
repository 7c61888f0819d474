"""Write docs/cli.md: the text of `robomarl COMMAND --help` of every command.

    python docs/cli.py

tests/test_site.py fails when the page is not what this writes.
"""

import contextlib
import io
import os
from pathlib import Path
from unittest import mock

from robomarl.front import cli

PAGE = Path(__file__).with_name("cli.md")
COLUMNS = 100
HEAD = """# Commands

What each command of `robomarl` does, and every option with its default. `python docs/cli.py` writes this page from
`robomarl COMMAND --help`. Every command takes `--json FILE` and writes its results there.
[Exit statuses](exit_status.md) has the meaning of each exit status.

| command | purpose |
| --- | --- |
"""


def help_of(name: str) -> str:
    """Return the text that `robomarl NAME --help` prints on a terminal of `COLUMNS` characters without colours.

    Raises:
        AssertionError: the command did not end with status 0.
    """
    said = io.StringIO()
    plain = {"COLUMNS": str(COLUMNS), "NO_COLOR": "1", "TERM": "dumb"}
    with mock.patch.dict(os.environ, plain), contextlib.redirect_stdout(said):
        try:
            assert cli.main([name, "--help"]) == 0
        except SystemExit as ended:
            assert not ended.code, f"{name} --help ended with {ended.code}"
    return "\n".join(line.rstrip() for line in said.getvalue().strip().splitlines())


def page() -> str:
    """Return the whole page."""
    rows = [f"| [`{name}`](#robomarl-{name}) | {text} |\n" for name, text in cli.COMMANDS.items()]
    parts = [f"\n## robomarl {name}\n\n```text\n{help_of(name)}\n```\n" for name in cli.COMMANDS]
    return HEAD + "".join(rows) + "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
