"""`index_page`: one page of all reports below a folder, newest first, with kind, title, verdict, date and picture."""

import base64
import html
import io
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from html.parser import HTMLParser
from os.path import relpath
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from robomarl.core.types import Figures
from robomarl.front.report.page import Section, page, text
from robomarl.front.report.plots.style import css_variables

INDEX = "index.html"
KINDS = {"robomarl demo": "demo", "robomarl prove": "safety campaign", "robomarl replay": "replay"}
"""Headings of reports, and their kinds."""
BEGINNINGS = {"Run": "training run", "Sweep": "sweep", "League": "league"}
"""First words of headings that go on with a name, and their kinds."""
THUMB_PX = (320, 180)
MOST_SVG_BYTES = 150_000
"""Larger drawings are left out of the index."""


class FoundReport(NamedTuple):
    """One report page."""

    file: Path
    kind: str
    title: str
    subtitle: str
    verdict: str
    changed_s: float
    """Time of the last change [s since the epoch]."""
    is_bad: bool
    """True if a card of the page is marked as bad."""
    picture: str
    """`data:` URL of a small picture; "" for none."""

    @property
    def date(self) -> str:
        """Local date and time of the last change."""
        return datetime.fromtimestamp(self.changed_s).strftime("%Y-%m-%d %H:%M")

    @property
    def figures(self) -> Figures:
        """The fields of `--json`."""
        names = ("kind", "title", "subtitle", "verdict", "date")
        return {"file": str(self.file), **{name: getattr(self, name) for name in names}, "bad": self.is_bad}


class _Reader(HTMLParser):
    """Heading, subtitle, verdict, cards and first picture of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[str, str] = {}
        self.is_ours = self.is_bad = False
        self.image = ""
        self._into = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        kind = found.get("class", "")
        self.is_ours |= tag == "meta" and found.get("name") == "generator" and found.get("content") == "robomarl"
        self.is_bad |= kind == "tile bad"
        if tag == "img" and not self.image:
            self.image = found.get("src", "")
        self._into = "h1" if tag == "h1" else kind if tag == "p" and kind in ("subtitle", "verdict") else self._into

    def handle_endtag(self, tag: str) -> None:
        if tag in ("h1", "p"):
            self._into = ""

    def handle_data(self, data: str) -> None:
        if self._into:
            self.words[self._into] = self.words.get(self._into, "") + data


def find_reports(folder: Path) -> list[FoundReport]:
    """Return all reports below a folder, newest first."""
    found = [read_report(file) for file in folder.glob("**/*.html") if file != folder / INDEX]
    return sorted((report for report in found if report), key=lambda report: -report.changed_s)


def read_report(file: Path) -> FoundReport | None:
    """Return what a page says of itself; None for a page that robomarl did not write."""
    content = file.read_text(errors="replace")
    reader = _Reader()
    reader.feed(content)
    heading = reader.words.get("h1", "")
    if not (reader.is_ours or heading in KINDS):
        return None
    kind = KINDS.get(heading, BEGINNINGS.get(heading.split(" ")[0], "report"))
    picture = _small_image(reader.image) if reader.image.startswith("data:image/") else _small_drawing(content)
    subtitle, verdict = (reader.words.get(name, "") for name in ("subtitle", "verdict"))
    return FoundReport(file, kind, heading, subtitle, verdict, file.stat().st_mtime, reader.is_bad, picture)


def _small_image(source: str) -> str:
    """Return the middle picture of an image, small; "" if it is damaged."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))) as image:
            image.seek(getattr(image, "n_frames", 1) // 2)
            small = image.convert("RGB")
    except (OSError, ValueError):
        return ""
    small.thumbnail((2 * THUMB_PX[0], 2 * THUMB_PX[1]))
    small.save(stream := io.BytesIO(), "JPEG", quality=80)
    return f"data:image/jpeg;base64,{base64.b64encode(stream.getvalue()).decode()}"


def _small_drawing(content: str) -> str:
    """Return the first drawing of a page that does not move, as an image of its own."""
    drawings = re.findall(r"<svg .*?</svg>", content, re.DOTALL)
    still = [drawing for drawing in drawings if "<animate" not in drawing and len(drawing) < MOST_SVG_BYTES]
    if not still:
        return ""
    head = '<svg xmlns="http://www.w3.org/2000/svg" '
    whole = (
        still[0]
        .replace("<svg ", head, 1)
        .replace(">", f"><style>{css_variables()}svg{{font-family:sans-serif}}</style>", 1)
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(whole.encode()).decode()}"


def index_page(reports: Sequence[FoundReport], folder: Path) -> str:
    """Return the page, with links relative to the folder that it is for."""
    cards = "\n".join(_card(report, folder) for report in reports)
    body = f'<div class="reports">{cards}</div>'
    bad = sum(report.is_bad for report in reports)
    kinds = ", ".join(f"{count} × {kind}" for kind, count in Counter(report.kind for report in reports).items())
    verdict = f"{len(reports)} reports: {kinds}." + (f" {bad} with a card marked as bad." if bad else "")
    return page("robomarl reports", str(folder), verdict, [], [Section("Newest first", body)])


def _card(report: FoundReport, folder: Path) -> str:
    """Return the card of one report."""
    link = html.escape(quote(relpath(report.file, folder)), quote=True)
    fit = "whole" if report.picture.startswith("data:image/svg") else "filled"
    image = (
        f'<img alt="" class="{fit}" src="{report.picture}">' if report.picture else "<span class=none>no picture</span>"
    )
    mark = " bad" if report.is_bad else ""
    return (
        f'<a class="report{mark}" href="{link}">{image}<span class=words>'
        f"<span class=label>{text(report.kind)} · {text(report.date)}</span><b>{text(report.title)}</b>"
        f"<span class=note>{text(report.subtitle)}</span><span>{text(report.verdict)}</span>"
        f"<span class=note>{text(relpath(report.file, folder))}</span></span></a>"
    )
