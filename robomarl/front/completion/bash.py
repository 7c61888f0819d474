"""The completion script of bash."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from robomarl.front.completion.words import FOLDERS, CommandWords

SCRIPT = """\
# Completion of robomarl for bash, made by `robomarl completion bash`.
_robomarl_names() {{
    local file
    case $1 in
{names}
        *) echo "$1" ;;
    esac
}}
_robomarl_values() {{  # COMMAND and an option that takes a value, or the place of a positional argument
    case "$1 $2" in
{values}
        *) return 1 ;;
    esac
}}
_robomarl_options() {{
    case $1 in
{options}
    esac
}}
_robomarl_place() {{  # place of the word that is completed among the positional arguments
    local i place=1
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${{COMP_WORDS[i]}} != -* ]]; then
            ((place++))
        elif _robomarl_values "${{COMP_WORDS[1]}}" "${{COMP_WORDS[i]}}" > /dev/null; then
            ((i++))
            [[ ${{COMP_WORDS[i]}} == '=' ]] && ((i++))
        fi
    done
    echo $place
}}
_robomarl() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} word words
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W {commands} -- "$cur"))
        return
    fi
    [[ $prev == '=' ]] && prev=${{COMP_WORDS[COMP_CWORD-2]}}
    [[ $cur == '=' ]] && cur=
    if [[ $prev == -* ]] && words=$(_robomarl_values "$command" "$prev"); then
        :
    elif [[ $cur == -* ]]; then
        words=$(_robomarl_options "$command")
    else
        words=$(_robomarl_values "$command" "$(_robomarl_place)")
    fi
    COMPREPLY=($(compgen -W "$(for word in $words; do _robomarl_names "$word"; done)" -- "$cur"))
}}
complete -o default -F _robomarl robomarl  # files where no name fits
"""


def bash_script(commands: Sequence[CommandWords], share: Path) -> str:
    """Return the script.

    Args:
        commands: words of all commands.
        share: folder of the files that names come from.
    """
    return SCRIPT.format(
        names="\n".join(names_lines(share)),
        values="\n".join(line for command in commands for line in value_lines(command)),
        options="\n".join(
            f"        {command.name}) echo {' '.join(option.name for option in command.options)} ;;"
            for command in commands
        ),
        commands=quote(" ".join(command.name for command in commands)),
    )


def names_lines(share: Path) -> Iterator[str]:
    """Yield a case for each kind of names: the stems of its files, or the folders that they are in."""
    for kind, pattern in FOLDERS.items():
        folder, _, file = pattern.partition("*")
        ending = "/" + file[1:] if file.startswith("/") else file
        take = f'file=${{file%{ending}}}; echo "${{file##*/}}"'
        yield f"        {kind}) for file in {quote(str(share / folder))}/*{file}; do {take}; done ;;"


def value_lines(command: CommandWords) -> Iterator[str]:
    """Yield a case for each option that takes a value, and for each positional argument."""
    for option in command.options:
        if option.takes_value:
            yield f'        "{command.name} {option.name}") {" ".join(("echo", *option.values))} ;;'
    for number, place in enumerate(command.places, 1):
        key = f'"{command.name} "[0-9]*' if place.repeated else f'"{command.name} {number}"'
        yield f"        {key}) {' '.join(('echo', *place.values))} ;;"
