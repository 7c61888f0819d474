"""HTML that needs nothing but itself: sections, tables, figures and tiles, put together to one page."""

import base64
import html
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from robomarl.core.config.parsed import JsonObject
from robomarl.core.types import Figures
from robomarl.front.report.plots.interactive import LIBRARY, put_library
from robomarl.front.report.plots.style import css_variables

State = Literal["", "good", "warn", "bad"]
"""How a figure is meant; pages never say it by colour alone."""

MAX_PICTURE_BYTES = 1_000_000
_TYPES = {".gif": "image/gif", ".png": "image/png", ".webp": "image/webp", ".jpg": "image/jpeg"}


class Tile(NamedTuple):
    """One headline figure."""

    label: str
    value: str
    note: str = ""
    state: State = ""


class Section(NamedTuple):
    """A part of the page with a heading and a place in its navigation."""

    title: str
    body: str
    lead: str = ""
    """One sentence below the heading."""


def page(title: str, subtitle: str, verdict: str, tiles: Sequence[Tile], sections: Sequence[Section]) -> str:
    """A whole HTML document."""
    style = css_variables() + Path(__file__).with_name("report.css").read_text()
    links = "".join(f'<a href="#{_slug(s.title)}">{text(s.title)}</a>' for s in sections)
    parts = [
        f"<header><h1>{text(title)}</h1><p class=subtitle>{text(subtitle)}</p></header>",
        f"<p class=verdict>{text(verdict)}</p>" if verdict else "",
        "<div class=tiles>" + "".join(_tile(tile) for tile in tiles) + "</div>" if tiles else "",
        f"<nav>{links}</nav>" if len(sections) > 2 else "",
        *(_section(section) for section in sections),
    ]
    script = Path(__file__).with_name("report.js").read_text() if any("class=plot" in s.body for s in sections) else ""
    if script:
        parts.append(f'<script src="{LIBRARY}"></script>\n<script>\n{script}</script>')
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="generator" content="robomarl">\n'
        f"<title>{text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def write_page(content: str, file: Path) -> None:
    """Write a page, with the script of its interactive plots beside it."""
    file.write_text(content)
    if "class=plot" in content:
        put_library(file.parent)


def text(value: object) -> str:
    """Anything as HTML text."""
    return html.escape(str(value))


def _slug(title: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in title.lower())


def _section(section: Section) -> str:
    lead = f"<p class=lead>{text(section.lead)}</p>" if section.lead else ""
    head = f"<h2>{text(section.title)}</h2>{lead}"
    return f'<section id="{_slug(section.title)}">{head}\n{section.body}\n</section>'


def _tile(tile: Tile) -> str:
    note = f"<span class=note>{text(tile.note)}</span>" if tile.note else ""
    kind = f"tile {tile.state}".strip()
    label = f"<span class=label>{text(tile.label)}</span>"
    return f'<div class="{kind}">{label}<b>{text(tile.value)}</b>{note}</div>'


def figure(content: str, caption: str = "", title: str = "", kind: str = "") -> str:
    """Return a figure with its title above and its caption below.

    Args:
        content: an `<svg>` or `<img>` element.
        caption: explanation of the content.
        title: name of the figure.
        kind: further CSS classes.
    """
    head = f"<h3>{text(title)}</h3>" if title else ""
    foot = f"<figcaption>{text(caption)}</figcaption>" if caption else ""
    return (
        f'<figure class="{kind}">{head}{content}{foot}</figure>' if kind else f"<figure>{head}{content}{foot}</figure>"
    )


def interactive(still: str, plot: Figures) -> str:
    """Return a still plot that becomes interactive where Plotly's script lies beside the page.

    Args:
        still: `<svg>` element.
        plot: `data` and `layout` of Plotly; NumPy scalars become numbers.
    """
    content = json.dumps(plot, default=float, separators=(",", ":")).replace("</", "<\\/")
    return f'<div class=plot>{still}<script type="application/json">{content}</script></div>'


def empty(what: str, title: str = "") -> str:
    """Return the place of a figure that has no data yet, with a text on the missing data."""
    head = f"<h3>{text(title)}</h3>" if title else ""
    return f"<figure>{head}<p class=empty>{text(what)}</p></figure>"


def grid(figures: Iterable[str], kind: str = "grid") -> str:
    """Figures side by side as far as the screen is wide enough; `kind` "grid small" for small multiples."""
    return f'<div class="{kind}">' + "\n".join(figures) + "</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], kind: str = "") -> str:
    """Return a table; the first column is text, all further ones are figures. `Html` cells are taken as they are."""
    top = "<tr>" + "".join(f'<th scope="col">{text(cell)}</th>' for cell in head) + "</tr>" if any(head) else ""
    body = "".join("<tr>" + "".join(_cell(cell, i) for i, cell in enumerate(row)) + "</tr>\n" for row in rows)
    classes = f' class="{kind}"' if kind else ""
    return f"<div class=scroll><table{classes}><thead>{top}</thead><tbody>\n{body}</tbody></table></div>"


class Html(str):
    """Text that is HTML already."""


def _cell(value: object, column: int) -> str:
    if isinstance(value, Html) and value.startswith("<td"):
        return value
    content = value if isinstance(value, Html) else text("–" if value is None else value)
    return f"<td>{content}</td>" if column else f'<th scope="row">{content}</th>'


def facts(values: JsonObject, title: str = "") -> str:
    """Names and values in two columns, nested mappings with dotted names."""
    head = f"<h3>{text(title)}</h3>" if title else ""
    return head + table(("", ""), flatten(values), "facts")


def flatten(values: JsonObject, prefix: str = "") -> list[tuple[str, str]]:
    """Nested mappings as (dotted name, text)."""
    rows: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            rows += flatten(value, f"{prefix}{name}.")
        else:
            rows.append((f"{prefix}{name}", _plain(value)))
    return rows


def _plain(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(v) for v in value) or "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


def details(summary: str, body: str) -> str:
    """A part that opens when it is clicked."""
    return f"<details><summary>{text(summary)}</summary>{body}</details>"


def _smaller(file: Path) -> bytes:
    """Return a GIF in fewer pixels; the GIF itself if it is damaged."""
    from robomarl.lab.scene.files import write_smaller_gif

    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / file.name
        try:
            write_smaller_gif(file, small, MAX_PICTURE_BYTES)
        except OSError:
            return file.read_bytes()
        return small.read_bytes()


def picture(file: Path, caption: str, title: str = "") -> str:
    """An image file inside the page; a note instead where the file is missing, too large or no picture."""
    kind = _TYPES.get(file.suffix.lower())
    if kind is None or not file.is_file():
        return empty(f"{file.name}: no GIF, PNG, WebP or JPEG file of this name.", title)
    content = file.read_bytes()
    if kind == "image/gif" and len(content) > MAX_PICTURE_BYTES:
        content = _smaller(file)
    if len(content) > MAX_PICTURE_BYTES:
        return empty(f"{file.name} has {len(content) / 1e6:.1f} MB; pictures up to 1 MB are shown here.", title)
    source = f"data:{kind};base64,{base64.b64encode(content).decode()}"
    return figure(f'<img alt="{html.escape(caption, quote=True)}" src="{source}">', caption, title)
