"""`Operators`: the people at the pages of one server, who see each other."""

from dataclasses import dataclass
from itertools import count

NAME_CHARS = 24
"""Longest name."""


@dataclass
class FieldOperator:
    """One open page."""

    name: str
    address: str
    doing: str = ""
    """Question of the open dialog, shown to the other operators; "" without a dialog."""

    here: bool = True
    """False while its connection is interrupted."""

    def __str__(self) -> str:
        """Return name and address."""
        return f"{self.name} ({self.address})"


class Operators:
    """Open pages by the identifier of their connection."""

    def __init__(self) -> None:
        """Begin with no operator."""
        self._numbers = count(1)
        self.present: dict[str, FieldOperator] = {}

    def join(self, page: str, name: str, address: str) -> FieldOperator:
        """Add a page; without a name it is called by its number."""
        name = " ".join(name.split())[:NAME_CHARS] or f"operator {next(self._numbers)}"
        self.present[page] = FieldOperator(name, address)
        return self.present[page]

    def leave(self, page: str) -> None:
        """Remove a page."""
        self.present.pop(page, None)

    def named(self, page: str, address: str) -> str:
        """Return name and address of a page; an unknown page has its address only."""
        found = self.present.get(page)
        return str(found) if found else f"a page at {address}"

    def others(self, page: str) -> list[FieldOperator]:
        """Return everyone at another page."""
        return [operator for key, operator in self.present.items() if key != page and operator.here]
