"""Files that identification writes: the vehicle's file with its new figures, and a scenario with
ranges around them.
"""

import dataclasses
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from robomarl.core.config.parsed import is_table, number_in, table_in
from robomarl.core.paths import vehicles_dir
from robomarl.core.tables import read_yaml
from robomarl.field.identify.robot_fit import Parameter, RobotFit
from robomarl.field.identify.safety_figures import SafetyFigure
from robomarl.lab.sim.scenario import Scenario

KEPT = 0.1
"""Share of the scenario's own width that ranges keep on each side of the results: batteries and days differ."""
ABOVE_ZERO = 0.05
"""Least of a scale."""


class Provenance(NamedTuple):
    """Origin of figures."""

    recordings: tuple[str, ...]
    """Names, and the SHA-256 of their content."""
    bundle: str
    commit: str
    date: str
    scenario: str
    """Name or file of the scenario that was flown."""
    command: str = "identify"
    """Command that found the figures."""

    @property
    def line(self) -> str:
        """For a file's `sources`."""
        return f"robomarl {self.command} {', '.join(self.recordings)}; commit {self.commit[:12]}, {self.date}"


def ranges_of(scenario: Any, found: Sequence[RobotFit]) -> dict[str, tuple[float, float]]:
    """Return the section `randomize` around the results of all robots; parameters without a result stay unchanged."""
    rows = [p for robot in found for p in robot.parameters if math.isfinite(p.value)]
    spans = {name: _span(p for p in rows if p.name == name) for name in {p.name for p in rows}}
    sensing = scenario.sensing
    parts = [
        (spans["position_noise_m"], sensing.position_noise_m),
        (spans["velocity_noise_m_s"], sensing.velocity_noise_m_s),
    ]
    scales = [(low / file, high / file) for (low, high), file in parts if file]
    if scales:
        spans["noise_scale"] = min(low for low, _ in scales), max(high for _, high in scales)
    wind = max(abs(end) for name in ("wind_x_m_s", "wind_y_m_s") for end in spans[name])
    spans["wind_m_s"] = (0.0, wind)
    if "gust_m_s" in spans:
        spans["gust_m_s"] = (0.0, spans["gust_m_s"][1])
    known = {field.name for field in dataclasses.fields(scenario.randomize)}
    return {name: _widened(name, spans[name], getattr(scenario.randomize, name)) for name in sorted(known & set(spans))}


def _span(rows: Iterable[Parameter]) -> tuple[float, float]:
    ends = [(row.low, row.high) for row in rows]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _widened(name: str, span: tuple[float, float], own: tuple[float, float]) -> tuple[float, float]:
    room = KEPT * (own[1] - own[0])
    least = ABOVE_ZERO if name.endswith("_scale") else 0.0
    low, high = max(span[0] - room, least), max(span[1] + room, least)
    return round(low, 4), round(min(high, 1.0) if name == "packet_loss" else high, 4)


def named_from(folder: Path, scenario: str) -> str:
    """A scenario by name, or by its path from the folder of the file that names it, which may be moved with it."""
    return os.path.relpath(Path(scenario).resolve(), folder.resolve()) if scenario.endswith(".toml") else scenario


def scenario_text(scenario: Scenario, vehicle: Path, ranges: dict[str, tuple[float, float]], of: Provenance) -> str:
    """A scenario file, beside that of the vehicle, that extends the one that was flown."""
    lines = [f"# {scenario.name} with the vehicles that were identified: {of.line}."]
    lines += [
        f'extends = "{named_from(vehicle.parent, of.scenario)}"',
        f'vehicle = "{vehicle.name}"',
        "",
        "[randomize]",
    ]
    lines += [f"{name} = [{low:g}, {high:g}]" for name, (low, high) in ranges.items()]
    return "\n".join(lines) + "\n"


def vehicle_text(name: str, figures: Sequence[SafetyFigure], drag: tuple[float, float, float], of: Provenance) -> str:
    """The vehicle's file with these safety figures, and with the drag that was found where the file's is ruled out.

    Args:
        name: of the vehicle, or its file.
        figures: of `safety_figures`.
        drag: value and ends of the interval, over all robots.
        of: where they come from.
    """
    data, _ = read_yaml(name, "vehicle", vehicles_dir())
    data = data if is_table(data) else {}
    data.setdefault("sources", {})
    safety, sources = table_in(data, "safety"), table_in(data, "sources")
    for figure in figures:
        key, word = f"safety.{figure.name}", f"{figure.measured:.3g} {figure.unit} in flight: {of.line}"
        safety[figure.name] = figure.value
        stays = figure.value == figure.file
        if figure.name == "brake_m_s2":
            told = f"reckoned: what the limits hold beyond accel_error_m_s2 and the biases; {of.line}"
            sources[key] = sources.get(key, "") if stays else told
            continue
        sources[key] = f"{sources.get(key, 'as accel_bias_m_s2')}; flights needed {word}" if stays else word
    value, low, high = drag
    body = table_in(data, "body") if "body" in data else {}
    if "drag_per_s" in body and not low <= number_in(body, "drag_per_s") <= high:
        body["drag_per_s"] = round(value, 4)
        sources["body.drag_per_s"] = f"{value:.3g} [{low:.3g}, {high:.3g}] 1/s: {of.line}"
    head = f"# {name} as it was identified: {of.line}.\n"
    return head + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120)


def write_patch(
    folder: Path, scenario: Any, found: Sequence[RobotFit], figures: Sequence[SafetyFigure], of: Provenance
) -> tuple[Path, Path]:
    """Write both files; returns the scenario's and the vehicle's."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [p for robot in found for p in robot.parameters if p.name == "drag_per_s"]
    drag = (sum(p.value for p in rows) / len(rows), *_span(rows))
    vehicle, changed = folder / f"{Path(scenario.vehicle).stem}.yaml", folder / f"{scenario.name}_identified.toml"
    vehicle.write_text(vehicle_text(scenario.vehicle, figures, drag, of))
    changed.write_text(scenario_text(scenario, vehicle, ranges_of(scenario, found), of))
    return changed, vehicle
