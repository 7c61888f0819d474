"""The documentation site: it builds strictly, needs no network, and its search answers questions of strangers."""

import html
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

HITS = 3
WAIT_MS = 60_000
QUESTIONS = {
    "how do I set the goal of a robot": ("tutorials/field.html", "node_graph.html"),
    "what does STALE mean": ("glossary.html",),
    "how fast is the filter": ("backends.html", "benchmarks.html"),
    "how do I add my own robot": ("new_vehicle.html", "tutorials/vehicle.html"),
    "which ROS version": ("start.html", "node_graph.html"),
    "how do I stop all robots": ("tutorials/red_button.html", "tutorials/field.html"),
    "how do I train with PPO of Stable-Baselines3": ("tutorials/trainers.html", "python.html", "import.html"),
    "what is a bundle": ("bundle.html",),
    "how do I replay a flight": ("tutorials/recording.html", "recordings.html"),
    "does it work with PX4": ("mavlink.html", "ros_vehicles.html"),
}
"""Pages that answer, by the question of somebody who has never seen robomarl."""
BOOSTS = {"title": 1000, "text": 1}
"""As Material for MkDocs has them."""
LOADED = re.compile(
    r"<(?:script|img|iframe|source)[^>]*\ssrc=\"?(https?:)?//|<link[^>]*stylesheet[^>]*href=\"?(https?:)?//"
)


@pytest.fixture(scope="session")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the site, built as `make site` builds it."""
    for module in ("material", "mkdocstrings"):
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=root, env=quiet, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def words_of(markup: str, separator: str) -> str:
    """The words that the search finds a text by."""
    return re.sub(separator, " ", html.unescape(re.sub(r"<[^>]+>", " ", markup)))


@pytest.fixture(scope="session")
def ask(site: Path):
    """Answers a question with the pages of the first hits of the site's search index."""
    lunr = pytest.importorskip("lunr")
    content = json.loads((site / "search" / "search_index.json").read_text())
    separator = content["config"]["separator"]
    documents = [
        (
            {"location": d["location"], **{name: words_of(d[name], separator) for name in BOOSTS}},
            {"boost": d.get("boost", 1)},
        )
        for d in content["docs"]
    ]
    fields = [{"field_name": name, "boost": boost} for name, boost in BOOSTS.items()]
    builder = lunr.get_default_builder()
    builder.pipeline.remove(lunr.stemmer.stemmer)
    builder.search_pipeline.reset()
    builder.b(0)
    index = lunr.lunr(ref="location", fields=fields, documents=documents, builder=builder)

    def answer(question: str) -> list[str]:
        words = [w for w in words_of(question, separator).lower().split() if lunr.stop_word_filter.stop_word_filter(w)]
        scores = {hit["ref"]: score_of(hit, words) for hit in index.search(" ".join(f"{word}*" for word in words))}
        best = sorted(scores, key=lambda ref: -scores[ref])
        return list(dict.fromkeys(ref.partition("#")[0] for ref in best))[:HITS]

    return answer


def score_of(hit, words: list[str]) -> float:
    """Score of a hit as Material for MkDocs has it: pages before their sections, and more for more of the words."""
    found = sum(any(term.startswith(word) for term in hit["match_data"].metadata) for word in words)
    return hit["score"] * (1 + (("#" not in hit["ref"]) + found / len(words)) ** 2)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_search_answers_a_stranger_in_the_first_three_hits(ask, question: str):
    found = ask(question)
    assert set(found) & set(QUESTIONS[question]), found


def test_no_page_loads_anything_from_the_network(site: Path):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    assert not [str(page) for page in pages if LOADED.search(page.read_text())]


@pytest.mark.parametrize(
    ("markup", "loads"),
    [
        ('<script src="https://x.invalid/a.js">', True),
        ('<link rel="stylesheet" href="//x.invalid/a.css">', True),
        ('<script src="assets/a.js">', False),
        ('<a href="https://x.invalid">', False),
    ],
)
def test_what_would_be_loaded_from_the_network_is_found(markup: str, loads: bool):
    assert bool(LOADED.search(markup)) is loads


def test_links_to_files_that_are_not_on_the_site_become_code(root: Path):
    linked = runpy.run_path(str(root / "docs" / "site_pages.py"))["linked"]
    source = root / "docs" / "tour.md"
    text = (
        "[`run`](../robomarl/core/view.py) [graph](../ros_nodes/README.md#start) [a](safety.md) [b](https://x.invalid)\n"
        "```\n[c](../robomarl/core/view.py)\n```\n"
    )
    assert linked(text, source, "log/tour.md") == (
        "`run` (`robomarl/core/view.py`) [graph](../node_graph.md#start) [a](../safety.md) [b](https://x.invalid)\n"
        "```\n[c](../robomarl/core/view.py)\n```\n"
    )


def test_links_of_notebooks_lead_to_pages(site: Path):
    pages = sorted((site / "notebooks").glob("*.html"))
    assert len(pages) == 3
    for page in pages:
        inside = re.findall(r'href="([^"#:?]+\.(?:html|md|ipynb))[#"]', page.read_text())
        assert inside and not [name for name in inside if not (page.parent / name).is_file()], page.name


def test_the_page_of_commands_is_what_help_prints(root: Path):
    said = runpy.run_path(str(root / "docs" / "cli.py"))["page"]()
    assert (root / "docs" / "cli.md").read_text() == said, "run python docs/cli.py"


def test_the_page_of_the_api_has_every_name_of_the_package(root: Path):
    import robomarl

    named = re.findall(r"^::: robomarl\.(\S+)\.(\w+)$", (root / "docs" / "api.md").read_text(), re.M)
    assert {name: module for module, name in named} == robomarl._MODULE_OF


@pytest.fixture(scope="module")
def tab(start_chromium):
    """A tab of Chromium, which opens pages from the folder, without a server."""
    browser = start_chromium("--no-sandbox")
    opened = browser.new_page()
    yield opened
    browser.close()


def test_the_search_of_the_page_answers_too(tab, site: Path):
    first = (site / "index.html").as_uri()
    for question, pages in QUESTIONS.items():
        tab.goto(f"{first}?q={question.replace(' ', '+')}")
        tab.locator("li.md-search-result__item").first.wait_for(state="attached", timeout=WAIT_MS)
        tab.wait_for_timeout(300)
        hits = tab.locator("li.md-search-result__item").evaluate_all(
            "items => items.map(item => item.querySelector('a').getAttribute('href'))"
        )[:HITS]
        assert any(f"/{page}" in hit for hit in hits for page in pages), (question, hits)


def test_the_search_is_reached_by_the_keyboard(tab, site: Path):
    tab.goto((site / "index.html").as_uri())
    tab.keyboard.press("/")
    tab.keyboard.type("stop all robots")
    tab.locator("li.md-search-result__item").first.wait_for(state="attached", timeout=WAIT_MS)
    tab.wait_for_timeout(1000)  # until the hits of the last letter are there
    tab.keyboard.press("ArrowDown")
    focused = "document.activeElement"
    tab.wait_for_function(f"() => {focused}.matches('a.md-search-result__link')", timeout=WAIT_MS)
    page = tab.evaluate(f"{focused}.pathname")
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**{page}*", timeout=WAIT_MS)
