"""The completion script of fish."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from robomarl.front.completion.words import FOLDERS, CommandWords, PlaceWords

HEAD = """\
# Completion of robomarl for fish, made by `robomarl completion fish`.
function __robomarl_command  # the command is the first word
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test "$words[2]" = "$argv[1]"
end
function __robomarl_first
    test (count (commandline -opc)) -eq 1
end
function __robomarl_names
    for word in $argv
        switch $word
"""
FOOT = """\
            case '*'
                echo $word
        end
    end
end
complete -c robomarl -n __robomarl_first -f
"""


def fish_script(commands: Sequence[CommandWords], share: Path) -> str:
    """Return the script.

    Args:
        commands: words of all commands.
        share: folder of the files that names come from.
    """
    lines = [line for command in commands for line in command_lines(command)]
    return HEAD + "\n".join([*names_lines(share), FOOT + "\n".join(lines)]) + "\n"


def names_lines(share: Path) -> Iterator[str]:
    """Yield a case for each kind of names: the stems of its files, or the folders that they are in."""
    for kind, pattern in FOLDERS.items():
        folder, _, file = pattern.partition("*")
        ending = "/" + file[1:] if file.startswith("/") else file
        yield f"            case {kind}"
        yield f"                for file in {quoted(str(share / folder))}/*{file}"
        yield f"                    string replace -r '^.*/' '' (string replace {quoted(ending)} '' $file)"
        yield "                end"


def command_lines(command: CommandWords) -> Iterator[str]:
    """Yield a line for a command, and for each of its options and positional arguments."""
    yield f"complete -c robomarl -n __robomarl_first -a {command.name} -d {quoted(command.text)}"
    begin = f"complete -c robomarl -n '__robomarl_command {command.name}'"
    for option in command.options:
        values = f" -r -a {names(option.values)}" if option.values else " -r" if option.takes_value else ""
        yield f"{begin} -l {option.name[2:]}{values} -d {quoted(option.text)}"
    yield from (f"{begin} -a {names(place.values)}" for place in with_values(command.places))


def with_values(places: Sequence[PlaceWords]) -> list[PlaceWords]:
    """Return the arguments that have choices or names; fish offers all of them at every place."""
    return [place for place in places if place.values]


def names(values: Sequence[str]) -> str:
    """Return the argument of `-a`, which fish expands when it completes."""
    return quoted(f"(__robomarl_names {' '.join(values)})")


def quoted(text: str) -> str:
    """Return the text in single quotes, as fish reads them."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
