"""`docs/tour.md`: its lines run in order in one session and print what the page shows; its links lead to functions."""

import ast
import doctest
import re
from pathlib import Path
from typing import Any

import pytest

STOPS = 12
LINK = re.compile(r"\[`([\w.]+)`\]\((\.\./[\w/]+\.py)\)")


def page_of(root: Path) -> str:
    return (root / "docs" / "tour.md").read_text()


def stops_of(page: str) -> list[str]:
    """The text of each stop, heading first."""
    return re.split(r"^## ", page, flags=re.M)[1:]


def blocks_of(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)


def run_block(code: str, session: dict[str, Any], name: str) -> str:
    """Run a block in the session; returns the report of each line that failed, "" if none did."""
    reports: list[str] = []
    test = doctest.DocTestParser().get_doctest(code, session, name, name, 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=reports.append, clear_globs=False)
    session.update(test.globs)
    return "".join(reports)


def has_definition(source: str, name: str) -> bool:
    """True if the module defines this function or class, or this method of a class (`Class.method`)."""
    body: list[ast.stmt] = ast.parse(source).body
    for part in name.split("."):
        kinds = (ast.FunctionDef, ast.ClassDef)
        found = next((node for node in body if isinstance(node, kinds) and node.name == part), None)
        if found is None:
            return False
        body = found.body
    return True


def test_lines_run_in_order_in_one_session_and_print_what_the_page_shows(root: Path) -> None:
    pytest.importorskip("rclpy")
    pytest.importorskip("mcap")
    session: dict[str, Any] = {}
    for number, code in enumerate(blocks_of(page_of(root)), 1):
        assert not (report := run_block(code, session, f"stop {number}")), report


def test_each_stop_has_three_to_five_sentences_a_link_and_lines_that_print(root: Path) -> None:
    stops = stops_of(page_of(root))
    assert [int(stop.split(".")[0]) for stop in stops] == list(range(1, STOPS + 1))
    for stop in stops:
        words, (code,) = stop.split("```python")[0], blocks_of(stop)
        sentences = re.findall(r"[.?](?=\s)", words.split("\n", 1)[1])
        assert 3 <= len(sentences) <= 5, (stop.split("\n")[0], len(sentences))
        assert LINK.search(words), stop
        assert doctest.DocTestParser().get_examples(code)[-1].want, stop


def test_each_link_leads_to_a_function_that_is_defined_in_that_file(root: Path) -> None:
    links = LINK.findall(page_of(root))
    assert len(links) >= STOPS
    for name, path in links:
        assert has_definition((root / "docs" / path).read_text(), name), f"{path} defines no {name}"


def test_readme_and_architecture_link_to_the_tour(root: Path) -> None:
    assert "(docs/tour.md)" in (root / "README.md").read_text()
    assert "(tour.md)" in (root / "docs" / "architecture.md").read_text()


@pytest.mark.parametrize("code", [">>> 1 + 1\n3\n", ">>> undefined\n", ">>> print('x')\n", ">>> 1 / 0\n0\n"])
def test_a_line_that_fails_or_prints_something_else_is_reported(code: str) -> None:
    assert "Failed example" in run_block(code, {}, "wrong")


@pytest.mark.parametrize("name", ["gone", "Here.gone", "here.Here", "assigned"])
def test_a_link_to_a_function_that_is_not_there_is_found(name: str) -> None:
    source = "assigned = 1\ndef here(): pass\nclass Here:\n    def there(self): pass\n"
    assert has_definition(source, "here") and has_definition(source, "Here.there")
    assert not has_definition(source, name)
