"""Completion of commands, options and names by the Tab key: print the script of a shell, or install it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from robomarl.core.config import UsageError
from robomarl.core.types import Figures


@dataclass(frozen=True)
class Args:
    """Options of `robomarl completion`."""

    shell: Annotated[
        Literal["bash", "zsh", "fish", ""], tyro.conf.Positional, tyro.conf.arg(metavar="[bash|zsh|fish]")
    ] = ""
    """Shell; by default the one that SHELL names."""
    install: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Write the script where the shell loads it, instead of printing it. Do it again after an update of robomarl."""


def run(args: Args) -> Figures:
    """Print or install the script."""
    from robomarl.core.paths import share_dir
    from robomarl.front.completion.bash import bash_script
    from robomarl.front.completion.fish import fish_script
    from robomarl.front.completion.install import install
    from robomarl.front.completion.words import all_words
    from robomarl.front.completion.zsh import zsh_script

    shell = args.shell or Path(os.environ.get("SHELL", "")).name
    makers = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
    if shell not in makers:
        raise UsageError(f"SHELL names {shell or 'no shell'}; name one of: {', '.join(makers)}.")
    text = makers[shell](all_words(), share_dir())
    if not args.install:
        print(text, end="")
        return {"shell": shell}
    done = install(shell, text)
    print(f"{done.script}: written; it works in new shells.")
    if done.start_file is not None:
        print(f"{done.start_file}: has a line that loads it.")
    return {"shell": shell, "script": str(done.script), "start_file": done.start_file and str(done.start_file)}
