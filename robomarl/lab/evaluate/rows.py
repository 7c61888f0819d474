"""Rows of `robomarl eval` for policies with episodes that either succeed or fail, and the table of these rows."""

from collections.abc import Mapping

from robomarl.core.types import Figures
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import HOVER_S, EvalConfig, EvalRow
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.evaluate.variations import perturbed, with_estimator
from robomarl.lab.simulation import RowOptions


def episodes_row(name: str, options: RowOptions, is_first: bool) -> EvalRow:
    """Run the episodes of the policy of that name.

    Raises:
        UserError: no such policy, scenario, engine or parameter.
    """
    policy, scenario = resolve_policy(name, options.scenario)
    scenario = with_estimator(perturbed(scenario, options.perturb), options.estimator)
    record = 0 if options.video else None
    config = EvalConfig(options.sim, options.episodes, options.seed, options.filter, record, hover_s=HOVER_S)
    flown = evaluate(policy, scenario, config)
    figures = {**flown.figures, "policy": name, "perturb": list(options.perturb)}
    figures |= {"estimator": options.estimator[0]} if options.estimator else {}
    return EvalRow(figures, flown if is_first else flown._replace(log=None), policy, scenario, config)


COLUMNS = {
    "policy": "policy",
    "scenario": "scenario",
    "sim": "sim",
    "filter": "filter",
    "success": "success_rate",
    "95 %": "success_ci95",
    "coll.": "collisions",
    "min m": "min_distance_m",
    "arrive s": "arrival_time_s",
    "err m": "position_error_m",
    "hover m/s^2": "hover_accel_std_m_s2",
    "rad": "hover_tilt_rad",
    "m": "hover_error_m",
    "active": "active_share",
    "x real time": "realtime_factor",
}


def table(rows: list[Figures], columns: Mapping[str, str] = COLUMNS) -> str:
    """The figures that people look at first, aligned; `columns` are the keys of the figures by their heads."""
    if any("estimator" in row for row in rows):
        columns = {"policy": columns["policy"], "estimator": "estimator", **columns}
    lines = [list(columns), *([_cell(row.get(key)) for key in columns.values()] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    return "\n".join("  ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return f"{value[0]:.3f}-{value[1]:.3f}"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
