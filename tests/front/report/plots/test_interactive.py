"""Interactive plots: the data of the still ones, drawn by Plotly in a real browser."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest

from robomarl.front.report.page import Section, figure, interactive, page, write_page
from robomarl.front.report.plots.flight import distances, interventions, map_view
from robomarl.front.report.plots.interactive import LIBRARY, plotly_figure
from robomarl.front.report.plots.training import SUCCESS, learning_curve

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_lines_limits_areas_and_names_are_those_of_the_still_plot(synthetic: ModuleType):
    log = synthetic.make_flight(3, seconds=4.0)
    drawn, acted = distances(log, ["a", "b", "c"]), interventions(log, ["a", "b", "c"])
    assert drawn and acted
    plot = plotly_figure(drawn)
    named = {trace["name"]: trace for trace in plot["data"] if trace["name"]}
    assert list(named) == ["a", "b", "c"] and named["b"]["line"]["color"] == "var(--c1)"
    assert [shape["y0"] for shape in plot["layout"]["shapes"]] == pytest.approx([log.separation_m, 2 * log.radius_m])
    assert plot["layout"]["xaxis"]["range"] == pytest.approx([log.time_s[0], log.time_s[-1]])
    assert plot["layout"]["title"]["text"] == "distance to the nearest robot [m]"
    assert any("safety 0.20 m" in note["text"] for note in plot["layout"]["annotations"])
    areas = [trace for trace in plotly_figure(acted)["data"] if trace.get("fill")]
    assert len(areas) >= 3


def test_numpy_scalars_of_a_plot_become_numbers():
    assert '{"x":[1.5,2]}' in interactive("<svg/>", {"x": [np.float32(1.5), 2]})


def test_maps_keep_their_shape_and_gaps(synthetic: ModuleType):
    log = synthetic.make_flight(2, seconds=4.0)
    log.pos_m[10:20, 0] = np.nan
    plot = plotly_figure(map_view(log, (0, 1), ["a", "b"], (440, 400)))
    (path,) = [trace for trace in plot["data"] if trace["name"] == "a"]
    assert None in path["x"] and plot["layout"]["yaxis"]["scaleanchor"] == "x"
    assert sum(shape["type"] == "circle" for shape in plot["layout"]["shapes"]) == 2


def test_round_wall_times_are_along_the_top():
    steps = np.linspace(0, 1e6, 40)
    drawn = learning_curve({"steps": steps, "seconds": 31 + steps / 1.7e3, "success": steps / 1e6}, SUCCESS)
    assert drawn
    notes = plotly_figure(drawn)["layout"]["annotations"]
    minutes = {note["text"]: note["x"] for note in notes if note.get("yref") == "paper"}
    assert "wall time [min]" in minutes and {"2", "4", "6", "8", "10"} <= set(minutes)
    assert minutes["4"] == pytest.approx((4 * 60 - 31) * 1.7e3)


@pytest.fixture
def a_page(synthetic: ModuleType, tmp_path: Path) -> Path:
    """Return a page with one plot, and Plotly's script beside it."""
    from robomarl.front.report.plots.style import to_inline_svg

    drawn = distances(synthetic.make_flight(2, seconds=2.0), ["a </script> b", "c"])
    assert drawn
    plot = figure(interactive(to_inline_svg(drawn, "Distances", "d"), plotly_figure(drawn)))
    write_page(page("A page", "", "", [], [Section("One", plot)]), tmp_path / "page.html")
    return tmp_path / "page.html"


def test_a_browser_draws_it_without_the_network_and_keeps_the_still_plot_without_the_script(
    a_page: Path, start_chromium: "Callable[..., Browser]"
):
    if not (a_page.parent / LIBRARY).exists():
        pytest.skip("needs Plotly")
    browser = start_chromium("--no-sandbox")
    tab, errors, asked = browser.new_page(), [], []
    tab.on("pageerror", lambda error: errors.append(error))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(a_page.as_uri())
    tab.wait_for_selector(".plot.drawn .main-svg")
    assert "a </script> b" in tab.evaluate("document.querySelector('.live').data.map(line => line.name)")
    assert tab.evaluate("document.querySelector('.live').data[0].line.color").startswith("rgba(")
    assert not tab.locator(".plot > svg").is_visible()
    assert not errors and all(url.startswith("file:") for url in asked)
    (a_page.parent / LIBRARY).unlink()
    tab.reload()
    assert tab.locator(".plot > svg").is_visible() and not errors
    browser.close()
