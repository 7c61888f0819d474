"""`docs/safety_matrix.md` is what the attack on fallbacks finds: cells of it are flown again and compared."""

import re
from pathlib import Path

import pytest

from benchmarks.filter.fallbacks.cells import VEHICLES, merged, parts
from benchmarks.filter.fallbacks.drive import Case, fly, summary
from benchmarks.filter.fallbacks.faults import REASONS
from benchmarks.filter.fallbacks.places import CROWDS, LIMITS
from benchmarks.filter.fallbacks.table import HEAD, cell

CELLS = [
    ("crazyflie_21", "nan_nominal", "heard"),
    ("ssl_omni", "stale", "obstacle"),
    ("turtlebot3_burger", "ok", "wall"),
]
SAME_M = 0.02
"""A closed loop of 1,000 decisions repeats the rounding of another compiler so far."""


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    """Text of the page."""
    return (root / "docs" / "safety_matrix.md").read_text()


def table(page: str, vehicle: str, head: str) -> dict[tuple[str, str], str]:
    """Cells of one table of a vehicle, by row and column; `head` is the name of its first column."""
    lines = page.split(f"## {vehicle}\n")[1].split("\n## ")[0].splitlines()
    rows = [[x.strip() for x in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    first = next(i for i, row in enumerate(rows) if row[0] == head)
    found = {}
    for name, *cells in rows[first + 2 :]:
        if name not in (*REASONS, *CROWDS):
            break
        found |= {(name, column): text for column, text in zip(rows[first][1:], cells, strict=True)}
    return found


def told(page: str) -> dict[str, str]:
    """Command, date, episodes, seconds and scale that the page's head names."""
    pattern = re.escape(HEAD)
    for name in ("command", "date", "episodes"):
        pattern = pattern.replace(re.escape(f"{{{name}}}"), f"(?P<{name}>[^`\n]+?)")
    for name in ("seconds", "scale"):
        pattern = pattern.replace(re.escape(f"{{{name}:g}}"), f"(?P<{name}>[0-9.]+?)")
    found = re.match(pattern, page)
    assert found, "the head is not the one that `table.py` writes: generate the page anew"
    return found.groupdict()


def test_page_has_each_cell_of_the_matrix(page: str):
    head = told(page)
    counts = head["command"].split("--counts ")[1].split()
    for vehicle in VEHICLES:
        assert set(table(page, vehicle, "fault")) == {(r, x) for r in REASONS for x in LIMITS}
        assert set(table(page, vehicle, "crowd")) == {(kind, count) for kind in CROWDS for count in counts}


def test_text_of_the_safety_page_links_the_matrix(root: Path):
    assert "(safety_matrix.md)" in (root / "docs" / "safety.md").read_text()


@pytest.mark.parametrize(("vehicle", "reason", "limit"), CELLS)
def test_cell_flown_again_is_that_of_the_page(page: str, vehicle: str, reason: str, limit: str):
    head = told(page)
    numbers = {"episodes": int(head["episodes"]), "seconds": float(head["seconds"]), "scale": float(head["scale"])}
    case = Case(vehicle, reason, limit, **numbers)  # type: ignore[arg-type]
    fresh, written = (
        cell(merged([summary(x, fly(x)) for x in parts(case)])),
        table(page, vehicle, "fault")[reason, limit],
    )
    first, second = (float(re.sub(r"^\**", "", text).split()[0]) for text in (fresh, written))
    assert first == pytest.approx(second, abs=SAME_M)
    assert fresh.startswith("**") == written.startswith("**")
