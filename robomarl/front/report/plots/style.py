"""Style of all figures, and figures as bytes: matplotlib's object interface, never `pyplot`.

Figures are drawn at one point per pixel in the light colours. In pages every colour of the palette
becomes a CSS variable, so that one figure follows the reader's light or dark theme.
"""

import re
from io import BytesIO, StringIO
from typing import TYPE_CHECKING

from robomarl.lab.scene.palette import ROBOTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DARK_ROBOTS = ("#4ea3ea", "#ff8b4a", "#2cc396", "#ea90c4", "#a5dcf8", "#e8c860", "#c4b8ff", "#858e98")
"""Colours of robots on dark paper."""
# Name: (light, dark). Robots are c0 to c7: the first four differ for every kind of colour vision and have a
# contrast of at least 4 on both papers; from c4 on lines are dashed as well.
COLOURS = {
    "ink": ("#1b2127", "#e9edf0"),
    "muted": ("#5a656f", "#a2adb7"),
    "grid": ("#dde2e7", "#333c45"),
    "paper": ("#fffffe", "#14181d"),
    "card": ("#f5f7f9", "#1c2229"),
    "good": ("#14804a", "#46cf8b"),
    "warn": ("#9a6700", "#e3b341"),
    "bad": ("#c4301c", "#ff8172"),
} | {f"c{index}": pair for index, pair in enumerate(zip(ROBOTS, DARK_ROBOTS, strict=True))}
INK, MUTED, GRID, PAPER, BAD, WARN = (COLOURS[name][0] for name in ("ink", "muted", "grid", "paper", "bad", "warn"))
NUM_ROBOT_COLOURS = 8
_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (6, 1.5, 1.5, 1.5)))


def robot_colour(index: int) -> str:
    """Return the colour of a robot, equal in every figure."""
    return COLOURS[f"c{index % NUM_ROBOT_COLOURS}"][0]


def robot_line(index: int) -> dict:
    """Colour and dashes of a robot's line: every four robots the dashes change."""
    return {"color": robot_colour(index), "linestyle": _DASHES[index // 4 % len(_DASHES)]}


def css_variables() -> str:
    """The palette as CSS: light, dark where the reader prefers it, light on paper."""
    light, dark = (" ".join(f"--{name}:{pair[i]};" for name, pair in COLOURS.items()) for i in (0, 1))
    queries = ("@media (prefers-color-scheme:dark)", dark), ("@media print", light)
    return f":root{{{light}}}\n" + "".join(f"{query}{{:root{{{colours}}}}}\n" for query, colours in queries)


def new_chart(
    width: int,
    height: int,
    y_label: str = "",
    x_label: str = "",
    margins: tuple[int, int, int, int] = (46, 16, 30, 38),
) -> tuple["Figure", "Axes"]:
    """A figure with one axes in the common style.

    Args:
        width: of the figure [px].
        height: of the figure [px].
        y_label: quantity and unit; stands above the axis, where it can be read without tilting one's head.
        x_label: quantity and unit.
        margins: left, right, top, bottom of the axes [px].
    """
    from matplotlib.figure import Figure

    left, right, top, bottom = margins
    figure = Figure(figsize=(width / 72, height / 72), dpi=72)
    box = (left / width, bottom / height, 1 - (left + right) / width, 1 - (top + bottom) / height)
    axes = figure.add_axes(box)
    style_axes(axes)
    axes.set_xlabel(x_label, fontsize=11, color=MUTED, labelpad=5)
    if y_label:
        figure.text(4 / width, 1 - 7 / height, y_label, fontsize=11, color=MUTED, va="top")
    return figure, axes


def style_axes(axes: "Axes") -> None:
    """Light grid along y, one line along x, small grey numbers."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(MUTED)
    axes.patch.set_visible(False)
    axes.tick_params(colors=MUTED, labelsize=11, length=0, pad=5)
    axes.tick_params(axis="x", length=3)
    axes.grid(axis="y", color=GRID, linewidth=1)
    axes.set_axisbelow(True)


def label_ends(axes: "Axes", labels: list[tuple[float, str, str]], gap_px: float = 13.0) -> None:
    """Name lines at their right-hand ends, moved apart where the names would overlap.

    Args:
        axes: limits must be final.
        labels: (y where the line ends, text, colour) each; ends outside the axes are named at its edge.
        gap_px: least distance between two names.
    """
    x = axes.get_xlim()[1]
    height = axes.get_window_extent().height
    flat, gap = axes.transAxes.inverted(), gap_px / height
    wanted = []
    for i, (y, text, colour) in enumerate(labels):
        place = min(max(float(flat.transform(axes.transData.transform((x, y)))[1]), 0.0), 1.0)
        # Lines that end at about the same height are named in their order, the first one on top.
        wanted.append((round(place / gap), -i, place, text, colour))
    wanted.sort()
    places = spread([place for _, _, place, _, _ in wanted], gap)
    for place, (*_, text, colour) in zip(places, wanted, strict=True):
        name_beside(axes, (1.0, place), text, colour)


def name_beside(axes: "Axes", at: tuple[float, float], text: str, colour: str, gap_px: float = 6.0) -> None:
    """Text to the right of a point (negative gap: to its left), both in shares of the axes."""
    axes.annotate(
        text,
        at,
        xycoords="axes fraction",
        xytext=(gap_px, 0),
        textcoords="offset points",
        fontsize=11,
        color=colour,
        va="center",
        ha="left" if gap_px > 0 else "right",
    )


def spread(places: list[float], gap: float) -> list[float]:
    """Sorted places in [0, 1], moved as little as needed to be `gap` apart."""
    moved = list(places)
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + gap)
    for i in reversed(range(len(moved))):
        moved[i] = min(moved[i], 1.0 if i + 1 == len(moved) else moved[i + 1] - gap)
    return moved


def to_png(figure: "Figure", scale: float = 2.0) -> bytes:
    """The figure as PNG on white paper."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_facecolor("white")
    figure.set_dpi(72 * scale)
    stream = BytesIO()
    FigureCanvasAgg(figure).print_png(stream, metadata={"Software": None})
    return stream.getvalue()


def to_svg(figure: "Figure") -> bytes:
    """The figure as an SVG file of its own that follows the reader's theme."""
    inner = to_inline_svg(figure, "figure", "f")
    head = '<svg xmlns="http://www.w3.org/2000/svg" '
    rules = f"<style>{css_variables()}svg{{background:var(--paper);font-family:system-ui,sans-serif}}</style>"
    return inner.replace("<svg ", head, 1).replace(">", f">{rules}", 1).encode()


def to_inline_svg(figure: "Figure", title: str, key: str) -> str:
    """Return the figure as an `<svg>` element for a page.

    Args:
        figure: the figure.
        title: text for a screen reader.
        key: prefix of the element's ids, different for each figure of a page.
    """
    import html

    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = StringIO()
    figure.patch.set_visible(False)
    # The salt makes ids, and with them the page, the same each time.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "robomarl"}):
        FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None})
    width, height = (72 * inches for inches in figure.get_size_inches())
    label = html.escape(title, quote=True)
    head = f'<svg role="img" aria-label="{label}" viewBox="0 0 {width:.0f} {height:.0f}">'
    body = stream.getvalue().partition("</metadata>")[2]
    return head + _themed(_compact(body, key))


def _compact(body: str, key: str) -> str:
    """Without unused ids, with short numbers, and with ids that are unique in the page."""
    used = set(re.findall(r'(?:xlink:href="#|url\(#)([\w.-]+)', body))
    body = re.sub(r' id="([\w.-]+)"', lambda m: f' id="{key}-{m[1]}"' if m[1] in used else "", body)
    body = re.sub(r'xlink:href="#', f'href="#{key}-', body).replace("url(#", f"url(#{key}-")
    body = re.sub(r"<[^>]*>", _short_tag, body)
    return re.sub(r"\s*\n\s*", "\n", body)


def _short_tag(tag: re.Match) -> str:
    """Return a tag with two decimals, without attributes that the page decides or that do nothing."""
    short = re.sub(r"\d+\.\d{2,}", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), tag[0])
    short = re.sub(r"; font-family: [^;\"]*|font-family: [^;\"]*; ?", "", short)
    return re.sub(r' transform="rotate\(-0 [^)]*\)"', "", short)


def _themed(body: str) -> str:
    """Palette colours as CSS variables."""
    names = {light: name for name, (light, _) in COLOURS.items()}
    return re.sub("|".join(names), lambda m: f"var(--{names[m[0]]})", body)
