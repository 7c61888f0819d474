"""Hook of mkdocs.yml: pages of the site that are not below docs/, and links to files that are not on the site.

README.md of ros_nodes/, CHANGELOG.md, CONTRIBUTING.md and SECURITY.md become pages. A link to any other file of the
repository becomes the file's path as code, because the site has no copy of the code.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
INCLUDED = {
    "ros_nodes/README.md": "node_graph.md",
    "ros_nodes/graph.svg": "graph.svg",
    "ros_nodes/graph_soccer.svg": "graph_soccer.svg",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
"""Path on the site by path in the repository."""
HISTORY, HISTORY_BOOST = ("log/", "changelog"), 0.2
"""Pages of what was tried: the search puts them behind those that answer."""
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<name>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)")
NOTEBOOK_LINK = re.compile(r'href="([^":]+)\.(?:md|ipynb)(?=[#"])')
FENCE = re.compile(r"^(```.*?^```)$", re.M | re.S)


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the pages and pictures of `INCLUDED`."""
    from mkdocs.structure.files import File

    for path, name in INCLUDED.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: "Page", **_: object) -> str:
    """Return the page's text with every link as it has to be on the site."""
    if page.file.src_uri.startswith(HISTORY):
        page.meta.setdefault("search", {"boost": HISTORY_BOOST})
    source = Path(str(page.file.abs_src_path)).resolve()
    return linked(markdown, source, page.file.src_uri)


def on_post_page(output: str, page: "Page", **_: object) -> str:
    """Return a page with the links of a notebook, which the plugin leaves as they are, leading to pages of the site."""
    return NOTEBOOK_LINK.sub(r'href="\1.html', output) if page.file.src_uri.endswith(".ipynb") else output


def on_post_build(config: "MkDocsConfig") -> None:
    """Put `search_words.js` in front of the script of the search.

    Raises:
        FileNotFoundError: Material for MkDocs has its search in another file.
    """
    words = (DOCS / "assets" / "search_words.js").read_text()
    workers = list(Path(config.site_dir).glob("assets/javascripts/workers/search.*.js"))
    if not workers:
        raise FileNotFoundError(
            "the theme has no assets/javascripts/workers/search.*.js; see docs/assets/search_words.js"
        )
    for worker in workers:
        worker.write_text(words + worker.read_text())


def linked(markdown: str, source: Path, uri: str) -> str:
    """Rewrite the links of a page; blocks of code stay.

    Args:
        markdown: text of the page.
        source: file of the page.
        uri: path of the page on the site, below docs/.
    """
    parts = FENCE.split(markdown)
    return "".join(part if i % 2 else LINK.sub(lambda m: _link(m, source, uri), part) for i, part in enumerate(parts))


def _link(match: re.Match[str], source: Path, uri: str) -> str:
    """Return one link: to a page of the site, as code, or as it was."""
    name = match["name"]
    target = (source.parent / name).resolve()
    if not name or ":" in name or not target.exists() or not target.is_relative_to(ROOT):
        return match[0]
    place = site_path(target)
    if place is None:
        return _as_code(match["text"], target.relative_to(ROOT).as_posix())
    relative = os.path.relpath(place, Path(uri).parent)
    return f"{match['image']}[{match['text']}]({relative}{match['anchor'] or ''})"


def site_path(target: Path) -> str | None:
    """Return the path of a file on the site, or None if the site does not have it."""
    path = target.relative_to(ROOT).as_posix()
    if path in INCLUDED:
        return INCLUDED[path]
    return target.relative_to(DOCS).as_posix() if target.is_file() and target.is_relative_to(DOCS) else None


def _as_code(text: str, path: str) -> str:
    """Return the link's text with the path beside it, where the text does not have it."""
    bare = text.strip("`")
    if path.endswith(bare) or bare == path.rpartition("/")[2]:
        return f"`{path}`"
    return f"{text} (`{path}`)"
