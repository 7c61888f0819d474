"""`install`: the completion script where the user's shell loads it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from robomarl.core.config import UserError

MARK = "# robomarl completion"
"""End of the line that is added to a shell's start-up file."""
LOADERS = ("/usr/share/bash-completion/bash_completion", "/etc/bash_completion")
"""Files of the package bash-completion, which loads scripts by the command's name."""


class CompletionFiles(NamedTuple):
    """Files that an installation wrote."""

    script: Path
    start_file: Path | None
    """Start-up file of the shell that got a line; None if the shell finds the script by itself."""


def install(shell: str, text: str, environment: Mapping[str, str] = os.environ) -> CompletionFiles:
    """Write the script, and where the shell does not look for it, a line into the shell's start-up file.

    Args:
        shell: bash, zsh or fish.
        text: the script.
        environment: variables that name the user's folders.

    Raises:
        UserError: a file can't be written.
    """
    home = Path(environment.get("HOME") or Path.home())
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    script, start = {
        "bash": (data / "bash-completion" / "completions" / "robomarl", home / ".bashrc"),
        "zsh": (data / "zsh" / "site-functions" / "_robomarl", Path(environment.get("ZDOTDIR") or home) / ".zshrc"),
        "fish": (Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "fish/completions/robomarl.fish", None),
    }[shell]
    if shell == "bash" and any(Path(loader).is_file() for loader in LOADERS):
        start = None
    try:
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(text)
        if start is not None:
            add_line(start, script)
    except OSError as error:
        said = f"{error.filename}: can't be written ({error.strerror})"
        raise UserError(f"{said}; make it writable, or keep the output of: robomarl completion {shell}") from None
    return CompletionFiles(script, start)


def add_line(start: Path, script: Path) -> None:
    """Add the line that loads the script to a start-up file, unless it is there."""
    line = f'[ -f "{script}" ] && . "{script}"  {MARK}\n'
    text = start.read_text() if start.is_file() else ""
    if line not in text:
        start.write_text(text + ("" if not text or text.endswith("\n") else "\n") + line)
