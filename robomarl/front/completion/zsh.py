"""The completion script of zsh."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from robomarl.front.completion.words import FOLDERS, CommandWords, OptionWords

SCRIPT = """\
#compdef robomarl
# Completion of robomarl for zsh, made by `robomarl completion zsh`.
_robomarl_values() {{  # choices; or kinds of names, and files as well
    local -a found
    local word
    for word in $@; do
        case $word in
{names}
            *) found+=($word) ;;
        esac
    done
    (( $#found )) && compadd -a found
    [[ $# == 0 || $1 == @* ]] && _files
}}
_robomarl() {{
    local -a commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{cases}
    esac
}}
if ! (( $+functions[compdef] )); then
    autoload -Uz compinit && compinit
fi
compdef _robomarl robomarl
"""


def zsh_script(commands: Sequence[CommandWords], share: Path) -> str:
    """Return the script.

    Args:
        commands: words of all commands.
        share: folder of the files that names come from.
    """
    return SCRIPT.format(
        names="\n".join(names_lines(share)),
        commands="\n".join(f"        {quote(f'{command.name}:{command.text}')}" for command in commands),
        cases="\n".join(case(command) for command in commands),
    )


def names_lines(share: Path) -> Iterator[str]:
    """Yield a case for each kind of names, by modifiers of zsh: (h)ead, (t)ail, (r)oot."""
    for kind, pattern in FOLDERS.items():
        folder, _, file = pattern.partition("*")
        modifiers = ":h:t" if file.startswith("/") else ":t:r"
        yield f"            {kind}) found+=({quote(str(share / folder))}/*{file}(N{modifiers})) ;;"


def case(command: CommandWords) -> str:
    """Return the case of a command: a specification for `_arguments` of each option and positional argument."""
    words = [option_words(option) for option in command.options]
    for number, place in enumerate(command.places, 1):
        words.append(
            f"{'*' if place.repeated else number}:{place.name}: {' '.join(('_robomarl_values', *place.values))}"
        )
    lines = " \\\n".join(f"                {quote(word)}" for word in words)
    return f"        {command.name})\n            _arguments -s \\\n{lines}\n            ;;"


def option_words(option: OptionWords) -> str:
    """Return the specification of an option for `_arguments`."""
    text = re.sub(r"([\[\]:\\])", r"\\\1", option.text)
    spec = f"*{option.name}[{text}]"
    return f"{spec}:value: {' '.join(('_robomarl_values', *option.values))}" if option.takes_value else spec
