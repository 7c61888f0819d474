"""Each reason for a fallback keeps each limit, in the independent plant of `benchmarks.filter.fallbacks`."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.filter.fallbacks.cells import VEHICLES, Row
from benchmarks.filter.fallbacks.drive import Case, fly, summary
from benchmarks.filter.fallbacks.examples import EXAMPLES, genes_of
from benchmarks.filter.fallbacks.faults import REASONS
from benchmarks.filter.fallbacks.places import CROWDS, LIMITS
from benchmarks.filter.fallbacks.table import broken
from tests.core.filter.test_matrix_page import table

FOUND = [("ssl_omni", "ok", "corner", "corner_1"), ("ssl_omni", "ok", "corner", "corner_2")]
FOUND += [("crazyflie_21", "nan_mate", "", "nan_mate")]
"""Episodes in which a search found a contact: vehicle, reason, crowd, and the file's name."""
DIRECTED = [(name, vehicle) for name in ("N1", "N2", "N3") for vehicle in VEHICLES[:4]]
ALLOWED = (
    "robomarl.core.hardware.vehicle",
    "robomarl.core.filter.filter",
    "robomarl.core.filter.model.bodies",  # dataclasses of obstacles and strangers
    "robomarl.core.types",
    "robomarl.core.view",
)


def directed(name: str, vehicle: str, **changes: object) -> Row:
    """Fly an example that a filter failed once."""
    case = replace(Case(vehicle, **EXAMPLES[name].changes), **changes)  # type: ignore[arg-type]
    return summary(case, fly(case, genes_of(case, EXAMPLES[name].fixed)))


def flown(vehicle: str, reason: str, limit: str, **changes: object) -> Row:
    """Fly a cell of the matrix."""
    case = Case(vehicle, reason, limit, **changes)  # type: ignore[arg-type]
    return summary(case, fly(case))


@pytest.mark.parametrize(("name", "vehicle"), DIRECTED)
def test_fallback_holds_its_place_against_directed_errors(name: str, vehicle: str):
    row = directed(name, vehicle, episodes=10, seconds=14.0 if vehicle == "turtlebot3_burger" else 7.0)
    assert not broken(row), row


@pytest.mark.parametrize(("vehicle", "count"), [("crazyflie_21", 8), ("carrier_600", 8)])
def test_crowd_in_a_corner_does_not_touch(vehicle: str, count: int):
    row = directed("N4", vehicle, count=count, episodes=24, seconds=8.0)
    assert float(row["share_infeasible"]) > 0.1
    assert not broken(row), row


@pytest.mark.parametrize(("vehicle", "reason", "crowd", "name"), FOUND)
def test_contact_that_a_search_found_is_none_any_more(vehicle: str, reason: str, crowd: str, name: str):
    """Errors that jump, commands that arrive late: in all three robots crept with their places until they touched."""
    with np.load(Path(__file__).parent / "found" / f"{vehicle}_{name}.npz") as file:
        genes = dict(file)
    case = Case(vehicle, reason, "heard", crowd, count=genes["heading"].shape[1], episodes=1, seconds=12.0)
    row = summary(case, fly(case, genes))
    assert not broken(row), row


@pytest.mark.parametrize("limit", [limit for limit in LIMITS if limit != "speed"])
@pytest.mark.parametrize("reason", ["mixed", "nan_own"])
def test_changing_faults_keep_each_limit(reason: str, limit: str):
    row = flown("crazyflie_21", reason, limit, episodes=16, seconds=6.0)
    assert not broken(row), row


def test_numpy_backend_holds_its_place_as_well():
    row = directed("N1", "crazyflie_21", episodes=4, seconds=6.0, backend="numpy")
    assert not broken(row), row


def test_plant_keeps_to_the_declared_bounds_and_can_leave_them():
    """The filter's observer of the bias finds no contradiction at the bounds, and finds one beyond them."""
    assert flown("crazyflie_21", "ok", "speed", episodes=16, seconds=4.0)["misfits"] == 0
    beyond = flown("crazyflie_21", "ok", "speed", episodes=16, seconds=4.0, scale=1.4)
    assert int(beyond["misfits"]) > 0


def test_plant_shares_no_model_with_the_filter(root: Path):
    for file in (root / "benchmarks" / "filter" / "fallbacks").glob("*.py"):
        nodes = ast.walk(ast.parse(file.read_text()))
        used = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        assert {name for name in used if name.startswith("robomarl.")} <= set(ALLOWED), file.name


def bold(root: Path, vehicle: str, head: str) -> set[tuple[str, str]]:
    """Cells of which `docs/safety_matrix.md` says that a limit breaks there."""
    page = (root / "docs" / "safety_matrix.md").read_text()
    return {place for place, text in table(page, vehicle, head).items() if text.startswith("**")}


@pytest.mark.slow
@pytest.mark.parametrize("vehicle", VEHICLES)
@pytest.mark.parametrize("reason", REASONS)
def test_only_those_cells_break_that_the_page_names(root: Path, vehicle: str, reason: str):
    wrong = {(reason, limit): row for limit in LIMITS if broken(row := flown(vehicle, reason, limit, episodes=24))}
    assert not {place: row for place, row in wrong.items() if place not in bold(root, vehicle, "fault")}


@pytest.mark.slow
@pytest.mark.parametrize("vehicle", VEHICLES)
@pytest.mark.parametrize("crowd", CROWDS)
def test_only_those_crowds_touch_that_the_page_names(root: Path, vehicle: str, crowd: str):
    known = {int(count) for kind, count in bold(root, vehicle, "crowd") if kind == crowd}
    rows = {n: flown(vehicle, "ok", "heard", crowd=crowd, count=n, episodes=24) for n in (2, 3, 8, 16)}
    assert not {count: row for count, row in rows.items() if broken(row) and count not in known}
