"""Collectives in the conditions of a compiled program's loops, from its HLO text."""

import re

COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "collective-permute", "reduce-scatter")


def computations(text: str) -> dict[str, str]:
    """Body of every computation by name."""
    found = re.finditer(r"^(?:ENTRY )?%?([\w.\-]+) [^\n]*\{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    return {match[1]: match[2] for match in found}


def conditions(text: str) -> set[str]:
    """Names of the computations that say whether a loop goes on."""
    return set(re.findall(r"condition=%([\w.\-]+)", text))


def in_conditions(text: str) -> list[str]:
    """Return the lines with collectives that loops' conditions compute, calls followed."""
    bodies, todo, seen, lines = computations(text), list(conditions(text)), set(), []
    while todo:
        if (name := todo.pop()) in seen or name not in bodies:
            continue
        seen.add(name)
        todo += re.findall(r"%([\w.\-]+)", bodies[name])
        lines += [line.strip() for line in bodies[name].splitlines() if is_collective(line)]
    return lines


def is_collective(line: str) -> bool:
    """Return True if an operation of a program waits for other devices."""
    return re.search(rf"\b({'|'.join(COLLECTIVES)})(-start)?\(", line) is not None
