"""Charts of a league, each as a still and as data for Plotly: payoff matrix, ratings, weights of the Nash mixture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from robomarl.core.types import Figures
from robomarl.front.report.plots.style import COLOURS, GRID, INK, new_chart

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GOOD, BAD, BLUE = COLOURS["good"][0], COLOURS["bad"][0], COLOURS["c0"][0]
LETTER_PX, ROW_PX = 6.6, 34
FAINT = 0.55
"""Strongest colour of a cell, so that its number can be read."""


class Chart(NamedTuple):
    """One chart."""

    still: "Figure"
    live: Figures
    """`data` and `layout` of Plotly."""


class ScoreInterval(NamedTuple):
    """A figure with its interval."""

    value: float
    low: float
    high: float


def payoff_matrix(names: Sequence[str], cells: dict[tuple[int, int], ScoreInterval]) -> Chart:
    """Draw the mean score of each row's player against each column's.

    Args:
        names: of the players, the best first.
        cells: by row and column, without the diagonal.
    """
    count, left = len(names), _margin(names)
    still, axes = new_chart(left + max(560, 74 * count), 60 + ROW_PX * count, margins=(left, 10, 34, 8))
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(count - 0.5, -0.5)
    axes.grid(visible=False)
    axes.spines["bottom"].set_visible(False)
    for (i, j), cell in cells.items():
        strength = FAINT * min(1.0, 2 * abs(cell.value - 0.5))
        axes.fill_between([j - 0.5, j + 0.5], i - 0.5, i + 0.5, color=GOOD if cell.value > 0.5 else BAD,
                          alpha=strength, linewidth=0)  # fmt: skip
        axes.text(j, i, f"{cell.value:.2f}", ha="center", va="center", fontsize=12, color=INK)
    axes.set_xticks(range(count), [_short(name, 74) for name in names])
    axes.set_yticks(range(count), names)
    axes.tick_params(axis="x", top=True, bottom=False, labeltop=True, labelbottom=False, length=0)
    live = {
        "type": "heatmap",
        "z": [[cells[i, j].value if i != j else None for j in range(count)] for i in range(count)],
        "text": [[_told(names[i], names[j], cells.get((i, j))) for j in range(count)] for i in range(count)],
        "x": list(range(count)), "y": list(range(count)), "zmin": 0, "zmax": 1, "xgap": 2, "ygap": 2,
        "colorscale": [[0, f"var(--bad)/{FAINT}"], [0.5, "var(--card)"], [1, f"var(--good)/{FAINT}"]],
        "hovertemplate": "%{text}<extra></extra>", "hoverongaps": False, "showscale": False,
    }  # fmt: skip
    numbers = [
        {"x": j, "y": i, "text": f"{cell.value:.2f}", "showarrow": False, "font": {"size": 12, "color": "var(--ink)"}}
        for (i, j), cell in cells.items()
    ]
    layout = _layout(still, left, names, top=34)
    layout["annotations"] = numbers
    columns = {"tickvals": list(range(count)), "ticktext": [_short(name, 74) for name in names]}
    layout["xaxis"] |= {"side": "top", "range": [-0.5, count - 0.5], "fixedrange": True, "showgrid": False, **columns}
    layout["yaxis"] |= {"fixedrange": True}
    return Chart(still, {"data": [live], "layout": layout})


def estimates(names: Sequence[str], values: Sequence[ScoreInterval], label: str, colour: str = BLUE) -> Chart:
    """Draw one figure of each player with its interval.

    Args:
        names: of the players, from top to bottom.
        values: of each.
        label: what it is, and its unit.
        colour: of the palette.
    """
    count, left = len(names), _margin(names)
    still, axes = new_chart(left + 380, 66 + ROW_PX * count, x_label=label, margins=(left, 20, 10, 42))
    axes.set_ylim(count - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x", color=GRID, linewidth=1)
    for row, found in enumerate(values):
        axes.plot([found.low, found.high], [row, row], color=colour, linewidth=2.5, solid_capstyle="round", alpha=0.55)
    axes.plot([found.value for found in values], range(count), "o", color=colour, markersize=8)
    axes.set_yticks(range(count), names)
    live = {
        "type": "scatter", "mode": "markers", "x": [found.value for found in values], "y": list(range(count)),
        "marker": {"size": 9, "color": _variable(colour)},
        "error_x": {
            "type": "data", "symmetric": False, "thickness": 2.5, "width": 0, "color": f"{_variable(colour)}/0.55",
            "array": [found.high - found.value for found in values],
            "arrayminus": [found.value - found.low for found in values],
        },
        "text": [f"{name}<br>{found.value:.4g} [{found.low:.4g}, {found.high:.4g}]"
                 for name, found in zip(names, values, strict=True)],
        "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip
    layout = _layout(still, left, names, top=10)
    layout["xaxis"] |= {
        "range": list(map(float, axes.get_xlim())),
        "title": {"text": label, "standoff": 8},
        "nticks": 6,
    }
    return Chart(still, {"data": [live], "layout": layout})


def _layout(still: "Figure", left: int, names: Sequence[str], top: int) -> Figures:
    """Return the layout that all charts share; players are the rows."""
    width, height = (72 * inches for inches in still.get_size_inches())
    rows = {"tickvals": list(range(len(names))), "ticktext": list(names), "range": [len(names) - 0.5, -0.5]}
    return {
        "margin": {"l": left, "r": 20, "t": top, "b": 8 if top > 20 else 42, "pad": 4},
        "font": {"size": 12, "color": "var(--muted)"}, "aspect": height / width, "showlegend": False,
        "paper_bgcolor": "transparent", "plot_bgcolor": "transparent", "hovermode": "closest",
        "xaxis": {"ticks": "", "zeroline": False, "gridcolor": "var(--grid)"},
        "yaxis": {"ticks": "", "zeroline": False, "showgrid": False, **rows},
    }  # fmt: skip


def _told(first: str, second: str, cell: ScoreInterval | None) -> str:
    if cell is None:
        return ""
    return f"{first} against {second}<br>mean score {cell.value:.3f} [{cell.low:.3f}, {cell.high:.3f}]"


def _variable(colour: str) -> str:
    return next(f"var(--{name})" for name, (light, _) in COLOURS.items() if light == colour)


def _margin(names: Sequence[str]) -> int:
    """Width of the names at the left [px]."""
    return round(24 + LETTER_PX * max(len(name) for name in names))


def _short(name: str, width_px: int) -> str:
    """A name that fits into a column."""
    most = int(width_px / LETTER_PX)
    return name if len(name) <= most else name[: most - 1] + "…"


LABELS = {"elo": "Elo, with its 95 % interval", "nash": "weight in the Nash mixture, with its 95 % interval"}
"""Words below charts, by column."""
