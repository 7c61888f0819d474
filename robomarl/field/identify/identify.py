"""`identify`: every robot's parameters from its recorded flights, with 95 % intervals."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.stats import beta
from scipy.stats import t as student

from robomarl.core.config import UserError
from robomarl.core.domain.scenario import needed
from robomarl.core.types import Figures
from robomarl.field.identify.fit import LEVEL, Fit, FittedModel, WindowFit
from robomarl.field.identify.robot_fit import Parameter, RobotFit
from robomarl.field.identify.windows import LENGTH, SETTLE, SHORT, Windows, cut_windows
from robomarl.field.track import RobotTrack
from robomarl.field.work import field_of
from robomarl.lab.sim.scenario import Scenario

LEAST_WINDOWS = 4
"""Minimum number of a robot's windows: with fewer, the uncertainty of a figure is unknown."""


def identify(
    scenario: Scenario, tracks: Sequence[RobotTrack], progress: Callable[[float], object] = lambda share: None
) -> tuple[list[RobotFit], list[str]]:
    """Fit every robot of these tracks, and return sentences on robots that could not be fitted.

    Args:
        scenario: scenario that was flown.
        tracks: tracks of any number of flights.
        progress: called with the share that is done.

    Raises:
        UserError: the scenario's kind of team has no model to fit, or no robot has flown for long
            enough.
    """
    mend = "name recordings of other teams"
    model = needed(field_of(scenario).fitted, scenario, "model that could be fitted", mend)(scenario)
    own = {name: [track for track in tracks if track.robot == name] for name in sorted({t.robot for t in tracks})}
    windows = windows_of(own, scenario.period_s)
    found, missing = [], []
    for number, (name, cut) in enumerate(windows.items()):
        if cut is None or cut.count < LEAST_WINDOWS:
            has, each_s = cut.count if cut else 0, (SETTLE + SHORT) * scenario.period_s
            missing.append(f"{name}: has {has} windows of {each_s:g} s without a gap, {LEAST_WINDOWS} are needed.")
            continue
        found.append(fit_robot(model, name, cut, own[name]))
        progress((number + 1) / len(windows))
    return found, missing


def windows_of(tracks: Mapping[str, Sequence[RobotTrack]], period_s: float) -> dict[str, Windows | None]:
    """The windows of each robot; short ones of a robot that never flies for long in a team that does.

    Raises:
        UserError: no robot has flown for long enough: from short windows alone intervals were not checked.
    """
    found = {name: cut_windows(own, period_s) for name, own in tracks.items()}
    counts = {name: cut.count if cut else 0 for name, cut in found.items()}
    if max(counts.values(), default=0) < LEAST_WINDOWS:
        each = "; ".join(f"{name} has {count}" for name, count in counts.items())
        raise UserError(
            f"no robot can be identified: {LEAST_WINDOWS} windows of {(SETTLE + LENGTH) * period_s:g} s without a gap "
            f"are needed ({each}); record longer flights."
        )
    short = [name for name, count in counts.items() if count < LEAST_WINDOWS]
    return found | {name: cut_windows(tracks[name], period_s, SHORT) for name in short}


def fit_robot(model: FittedModel, name: str, windows: Windows, tracks: Sequence[RobotTrack]) -> RobotFit:
    """One robot's figures."""
    fit = WindowFit(windows, model).run()
    rows = [Parameter(name, *row) for row in zip(model.names, fit.value, fit.low, fit.high, model.units, strict=True)]
    rows += [Parameter(name, *row) for row in (*_lift(model, fit), *_noises(fit), _gusts(model, fit), _loss(tracks))]
    rows = [row._replace(value=float(row.value), low=float(row.low), high=float(row.high)) for row in rows]
    return RobotFit(name, model, fit, windows, tuple(rows))


Row = tuple[str, float, float, float, str]
"""Name, value, ends of the interval, unit."""


def _lift(model: FittedModel, fit: Fit) -> list[Row]:
    """Return thrust over mass, the figure that a flight shows best: first-order from the two scales."""
    if not {"mass_scale", "thrust_scale"} <= set(model.names):
        return []
    m, t = model.names.index("mass_scale"), model.names.index("thrust_scale")
    value, slope = fit.value[t] / fit.value[m], np.zeros(len(fit.value))
    slope[t], slope[m] = 1 / fit.value[m], -value / fit.value[m]
    half = student.ppf(0.5 + LEVEL / 2, len(fit.errors) - 1) * np.sqrt(slope @ fit.covariance @ slope)
    return [("lift_scale", value, value - half, value + half, "1")]


def _noises(fit: Fit) -> list[Row]:
    """Largest error of the estimates where it is uniform, from second differences, which gusts hardly change."""
    rows = []
    for name, part, unit in (("position_noise_m", slice(0, 3), "m"), ("velocity_noise_m_s", slice(3, 6), "m/s")):
        second = np.diff(fit.errors[..., part], 2, axis=1)
        each = (second**2).mean((1, 2)) / 6  # of white noise a second difference has six times the variance
        mean = each.mean()
        half = student.ppf(0.5 + LEVEL / 2, len(each) - 1) * each.std(ddof=1) / np.sqrt(len(each))
        low, value, high = np.sqrt(3 * np.maximum([mean - half, mean, mean + half], 0.0))
        rows.append((name, value, low, high, unit))
    return rows


def _gusts(model: FittedModel, fit: Fit) -> Row:
    """The gusts push by way of the drag, which is that of the vehicle's weight: both may be off, in logarithms
    independently."""
    at = model.names.index("drag_per_s")
    drag, half = model.drag_per_s(fit.value), (fit.high[at] - fit.low[at]) / 2
    value, wrong = fit.noise.gust_m_s2, half / abs(fit.value[at])
    if not drag > 0:
        return "gust_m_s", float("nan"), 0.0, float("inf"), "m/s"
    with np.errstate(divide="ignore"):
        down, up = (np.hypot(np.log(end / value), wrong) for end in fit.gust_m_s2)
    return "gust_m_s", value / drag, value / drag * np.exp(-down), value / drag * np.exp(up), "m/s"


def _loss(tracks: Sequence[RobotTrack]) -> Row:
    """Share of messages that did not arrive, with the interval of Clopper and Pearson."""
    lost, total = sum(t.lost for t in tracks), sum(t.lost + t.received for t in tracks)
    tail = (1 - LEVEL) / 2
    low = beta.ppf(tail, lost, total - lost + 1) if lost else 0.0
    high = beta.ppf(1 - tail, lost + 1, total - lost) if lost < total else 1.0
    return "packet_loss", lost / total if total else float("nan"), float(low), float(high), "1"


def figures_of(found: Sequence[RobotFit]) -> Figures:
    """For JSON."""
    return {
        "parameters": [row._asdict() for robot in found for row in robot.parameters],
        "windows": {robot.robot: robot.windows.count for robot in found},
    }


def text_of(found: Sequence[RobotFit]) -> str:
    """A table: a row for each parameter, a column for each robot."""
    head = ["parameter", "unit", *(robot.robot for robot in found)]
    rows = [
        [same[0].name, same[0].unit, *(f"{r.value:.3g} [{r.low:.3g}, {r.high:.3g}]" for r in same)]
        for same in zip(*(robot.parameters for robot in found), strict=True)
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in (head, *rows)]
    return "\n".join(lines)
