"""Files that people expect of a project which they join: security, citation, hooks, hosted CI, forms, decisions."""

import re
from pathlib import Path

import pytest
import yaml

import robomarl
from tests.conftest import LONG_FILES

PARTS = ["Decision", "Why", "Tried or rejected", "What would change it"]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
FORMS = ["bug", "feature"]


def anchors(text: str) -> set[str]:
    """Names of a page's headings, as hosts of Markdown make them."""
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    """Links of a page whose file or heading is not there."""
    found = []
    for name, anchor in LINK.findall(page.read_text()):
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            found.append(f"{name}#{anchor}")
    return found


def test_broken_links_are_found(tmp_path: Path):
    (tmp_path / "there.md").write_text("# What is it, really?\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md) [b](there.md#what-is-it-really) [c](there.md#no) [d](gone.md) [e](https://x.invalid)\n"
    )
    assert broken_links(page) == ["there.md#no", "gone.md#"]


def test_links_of_the_pages_lead_somewhere(root: Path):
    pages = [root / "SECURITY.md", *sorted((root / "docs" / "decisions").glob("*.md"))]
    assert not {page.name: broken_links(page) for page in pages if broken_links(page)}


def test_every_decision_has_its_parts_a_day_and_a_row_in_the_index(root: Path):
    folder = root / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    rows = dict(re.findall(r"^\| \[\d+\]\((\S+)\) \| (.+?) \| ", index, re.M))
    pages = {page.name: page.read_text() for page in sorted(folder.glob("[0-9]*.md"))}
    assert list(rows) == list(pages) and len(pages) >= 10
    for number, (name, text) in enumerate(pages.items(), 1):
        assert text.startswith(f"# {number}. {rows[name]}\n"), name
        assert re.findall(r"^## (.+)$", text, re.M) == PARTS, name
        assert re.search(r"^(Decided|Domains decided) 2\d{3}-\d\d-\d\d, ", text, re.M), name


def test_the_hosted_workflow_runs_what_everybody_runs(root: Path):
    job = yaml.safe_load((root / ".github" / "workflows" / "test.yml").read_text())["jobs"]["test"]
    assert job["steps"][-1] == {"run": "make test"}
    pythons = [step["with"]["python-version"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert pythons == ["3.11"]


def test_hooks_have_the_ruff_of_make_check(root: Path):
    """Of .venv, so that no second version is written down."""
    repos = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())["repos"]
    hooks = [hook for repo in repos for hook in repo["hooks"]]
    assert {repo["repo"] for repo in repos} == {"local"}
    assert hooks and all(hook["entry"].startswith(".venv/bin/ruff ") for hook in hooks)


def test_the_citation_repeats_no_version(root: Path):
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors", "license"} <= set(citation)
    assert "version" not in citation and robomarl.__version__ not in (root / "CITATION.cff").read_text()


@pytest.mark.parametrize("name", FORMS)
def test_forms_ask_for_something_and_name_each_field_once(root: Path, name: str):
    form = yaml.safe_load((root / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text())
    fields = [item for item in form["body"] if item["type"] != "markdown"]
    ids = [field["id"] for field in fields]
    assert len(set(ids)) == len(ids) and any(field.get("validations", {}).get("required") for field in fields)


def test_the_files_that_tests_begin_with_are_there(root: Path):
    assert [name for name in LONG_FILES if not (root / name).is_file()] == []
