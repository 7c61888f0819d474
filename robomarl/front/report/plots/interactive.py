"""`plotly_figure`: a matplotlib figure as data for Plotly: the still and the interactive plot are one drawing."""

# pyright: reportAttributeAccessIssue=false
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robomarl.core.types import Figures
from robomarl.front.report.plots.style import COLOURS, PAPER

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

LIBRARY = "plotly.min.js"
_NAMES = {light: f"var(--{name})" for name, (light, _) in COLOURS.items()}


def put_library(folder: Path) -> None:
    """Lay Plotly's script beside a page, as a link where the disk has links; nothing if Plotly is not installed."""
    import importlib.util

    found = importlib.util.find_spec("plotly")
    source = Path(found.origin).parent / "package_data" / LIBRARY if found and found.origin else None
    file = folder / LIBRARY
    if source is None or not source.is_file() or file.exists():
        return
    try:
        file.unlink(missing_ok=True)  # a link to an environment that is gone
        file.symlink_to(source)
    except OSError:
        file.write_bytes(source.read_bytes())


def plotly_figure(figure: "Figure") -> Figures:
    """Return {"data", "layout"}; colours of the palette are CSS variables, which the page looks up.

    Args:
        figure: one chart with lines, areas, limits and names at the ends of lines.
    """
    axes = figure.axes[0]
    lines = [line for line in axes.lines if line.get_visible()]
    traces = [_trace(line) for line in lines if _in_data(line, axes) == (True, True)]
    shapes = [_limit(line, axes) for line in lines if _in_data(line, axes) == (False, True)]
    areas = [area for collection in axes.collections for area in _areas(collection)]
    circles = [_circle(patch) for patch in axes.patches if hasattr(patch, "radius")]
    notes = [note for text in axes.texts if (note := _note(text))] + _along_the_top(axes)
    head = figure.texts[0].get_text() if figure.texts else ""
    return {"data": [*areas, *traces], "layout": {**_axes(axes), **_frame(figure, head, axes), "annotations": notes,
            "shapes": [*circles, *shapes]}}  # fmt: skip


def _in_data(artist: "Artist", axes: "Axes") -> tuple[bool, bool]:
    """Return whether x and y of an artist are in data coordinates."""
    x, y = artist.get_transform().contains_branch_seperately(axes.transData)
    return bool(x), bool(y)


def _trace(line: "Line2D") -> Figures:
    """Return a line, or points, that names itself where the pointer is."""
    colour, marker, name = _colour(line.get_color()), str(line.get_marker()), str(line.get_label())
    width = float(line.get_linewidth()) if line.get_linestyle() not in ("None", "none") else 0.0
    has_points = marker not in ("None", "none", "")
    mode = "+".join(["lines"] * (width > 0) + ["markers"] * has_points)
    is_open = has_points and str(line.get_markerfacecolor()) == PAPER
    is_named = not name.startswith("_")
    return {
        "type": "scatter",
        "mode": mode,
        "x": _numbers(line.get_xdata()),
        "y": _numbers(line.get_ydata()),
        "opacity": 1.0 if line.get_alpha() is None else line.get_alpha(),
        "line": {"color": colour, "width": width, "dash": "dash" if line.is_dashed() else "solid"},
        "marker": {"color": colour, "size": line.get_markersize(), "symbol": _symbol(marker, is_open)},
        "name": name if is_named else "",
        "hoverinfo": "all" if is_named else "skip",
    }


def _symbol(marker: str, is_open: bool) -> str:
    return "x-thin-open" if marker == "x" else "circle-open" if is_open else "circle"


def _limit(line: "Line2D", axes: "Axes") -> Figures:
    """Return a line across the whole chart."""
    y = float(np.asarray(line.get_ydata())[0])
    style = {"color": _colour(line.get_color()), "width": line.get_linewidth()}
    style["dash"] = "dash" if line.is_dashed() else "solid"
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y, "line": style}


def _areas(collection: "Artist") -> list[Figures]:
    """Return filled areas."""
    if not hasattr(collection, "get_paths"):
        return []
    colours = collection.get_facecolor()
    if not len(colours):
        return []
    return [
        {
            "type": "scatter", "mode": "lines", "fill": "toself", "line": {"width": 0}, "hoverinfo": "skip", "name": "",
            "fillcolor": _colour(colours[0]), "x": _numbers(path.vertices[:, 0]), "y": _numbers(path.vertices[:, 1]),
        }
        for path in collection.get_paths()
    ]  # fmt: skip


def _circle(patch: "Artist") -> Figures:
    """Return a disc, as of a robot."""
    (x, y), radius = patch.center, patch.radius
    box = {"x0": x - radius, "x1": x + radius, "y0": y - radius, "y1": y + radius}
    return {"type": "circle", **box, "line": {"width": 0}, "fillcolor": _colour(patch.get_facecolor()), "opacity": 0.4}


def _note(text: "Text") -> Figures | None:
    """Return words at a place of the chart, moved by pixels; None for words that are nowhere in it."""
    if not hasattr(text, "xycoords") or text.xycoords not in ("axes fraction", "data"):
        return None
    right, up = text.get_position() if text.anncoords == "offset points" else (0.0, 0.0)
    anchor = {"left": "left", "right": "right", "center": "center"}[text.get_horizontalalignment()]
    x, y = (float(part) for part in text.xy)
    reference = {} if text.xycoords == "data" else {"xref": "paper", "yref": "paper"}
    font = {"size": text.get_fontsize(), "color": _colour(text.get_color())}
    return {
        "text": text.get_text(), "x": x, "y": y, "xanchor": anchor, "yanchor": "middle", "xshift": right, "yshift": up,
        "showarrow": False, "font": font, **reference,
    }  # fmt: skip


def _along_the_top(axes: "Axes") -> list[Figures]:
    """Return the numbers of a second x axis as words that move with the first one."""
    style = {"yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False}
    notes = []
    for top in axes.child_axes:
        labels = zip(top.get_xticks(), top.get_xticklabels(), strict=True)
        notes += [{"text": label.get_text(), "x": float(place), **style} for place, label in labels]
        notes.append({"text": top.get_xlabel(), "xref": "paper", "x": 1, "xanchor": "right", "yshift": 16, **style})
    return notes


def _axes(axes: "Axes") -> Figures:
    """Return both axes with the limits and ticks that the still plot has."""
    found = {}
    for name, low_high, label in (("xaxis", axes.get_xlim(), axes.get_xlabel()), ("yaxis", axes.get_ylim(), "")):
        is_y = name == "yaxis"
        found[name] = {
            "range": [float(end) for end in low_high], "title": {"text": label, "standoff": 8}, "zeroline": False,
            "showgrid": bool(is_y or axes.get_aspect() == 1), "gridcolor": _NAMES[COLOURS["grid"][0]], "nticks": 7,
            "showticklabels": bool(len((axes.yaxis if is_y else axes.xaxis).get_ticklocs())),
        }  # fmt: skip
    if axes.get_aspect() == 1:
        found["yaxis"] |= {"scaleanchor": "x"}
    return found


def _frame(figure: "Figure", head: str, axes: "Axes") -> Figures:
    """Return size, margins, and the words above the chart."""
    width, height = (72 * inches for inches in figure.get_size_inches())
    box = axes.get_position()
    margin = {"l": width * box.x0, "r": width * (1 - box.x1), "b": height * box.y0, "t": height * (1 - box.y1)}
    muted = _NAMES[COLOURS["muted"][0]]
    return {
        "margin": {side: round(size) for side, size in margin.items()} | {"pad": 2},
        "title": {"text": head, "x": 0, "xref": "container", "y": 1, "yref": "container", "pad": {"t": 6, "l": 4},
                  "xanchor": "left", "yanchor": "top", "font": {"size": 12, "color": muted}},
        "font": {"size": 12, "color": muted},
        "aspect": height / width, "showlegend": False, "paper_bgcolor": "transparent", "plot_bgcolor": "transparent",
        "hovermode": "closest",
    }  # fmt: skip


def _colour(colour: object) -> str:
    """Return a colour of the palette as a CSS variable, with its transparency."""
    from matplotlib.colors import to_hex, to_rgba

    name = _NAMES.get(to_hex(colour), "var(--ink)")  # type: ignore[arg-type]
    alpha = to_rgba(colour)[3]  # type: ignore[arg-type]
    return name if alpha == 1 else f"{name}/{alpha:.2f}"


def _numbers(values: object) -> list[float | None]:
    """Return numbers with five digits; None for NaN, where a line has a gap."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in np.asarray(values, float).tolist()]
