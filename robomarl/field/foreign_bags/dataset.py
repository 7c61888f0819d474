"""`write_foreign_dataset`: recordings of other software as the file of `robomarl dataset`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.bundle.contract import Contract
from robomarl.core.config import UserError
from robomarl.field.foreign_bags.collect import ForeignRecording, read_foreign
from robomarl.field.foreign_bags.layout import ForeignLayout
from robomarl.field.foreign_bags.ticks import observations_of, ticks_of
from robomarl.lab.dataset import schema_of, table_of, whole_file

ACTIVE, OK = "ACTIVE", "OK"
"""State and reason of every row: the robot was commanded, without a filter of ours."""


def write_foreign_dataset(
    bags: Sequence[Path], file: Path, layout: ForeignLayout, bundle: str
) -> tuple[int, list[str]]:
    """Write the rows that a bundle would have seen, with the recorded commands of any origin.

    Args:
        bags: folders of recordings, all of this layout.
        file: file to write; replaced when it is whole.
        layout: names of the robots and their topics.
        bundle: name or folder of the bundle that gives observation and command.

    Returns:
        Rows, and sentences on missing data.

    Raises:
        UserError: no bundle or bag, one that the layout does not fit, or commands of another kind.
    """
    contract, recordings = load_bundle(bundle).contract, [read_foreign(bag, layout) for bag in bags]
    problems = [problem for found in recordings for problem in found.problems]
    if not layout.goals_m:
        problems.append("the layout has no goals_m: rows have no observations.")
    estimated = {
        name: sorted({what for found in recordings if name in found.robots for what in found.robots[name].estimated})
        for name in layout.robots
    }
    about = {
        "bundle": contract.name, "bundle_id": "", "vehicle": contract.vehicle.name, "fleet": "",
        "scenario": layout.scenario, "robots": list(layout.robots), "rate_hz": contract.rate_hz,
        "foreign": {"stack": layout.stack, "estimated": estimated},
    }  # fmt: skip
    schema, rows = schema_of(contract.observation.elements, contract.action.fields, about), 0
    with whole_file(file) as part, pq.ParquetWriter(part, schema, compression="zstd") as writer:
        for number, found in enumerate(recordings):
            for name in found.robots:
                columns = _columns(found, layout, name, contract)
                writer.write_table(table_of(columns | {"recording": np.full(len(columns["tick"]), number)}, schema))
                rows += len(columns["tick"])
    if not rows:
        file.unlink()
        raise UserError(f"{bags[0]}: holds no command to a robot of which there are estimates, so no row.")
    return rows, problems


def _columns(found: ForeignRecording, layout: ForeignLayout, name: str, contract: Contract) -> dict[str, np.ndarray]:
    """Return the columns of one robot by name."""
    robot, ticks = found.robots[name], ticks_of(found.robots[name])
    if ticks.command.shape[1] != contract.action.size:
        raise UserError(f"{contract.name} commands {contract.action.size} numbers, the recording has 4 of each robot.")
    size, known = len(ticks.at_s), not robot.estimated
    first = np.diff(ticks.flight, prepend=-1) != 0
    began = np.maximum.accumulate(np.where(first, ticks.at_s, -np.inf)) if size else ticks.at_s
    pos, quat, vel, omega = np.split(robot.state[ticks.own], [3, 7, 10], axis=1)
    late = np.diff(ticks.at_s, prepend=-np.inf) > 1.5 / contract.rate_hz
    goal = np.array(layout.goals_m.get(name, (np.nan,) * 3))
    return {
        "robot": np.full(size, name), "index": np.full(size, list(layout.robots).index(name)), "flight": ticks.flight,
        "tick": np.arange(size), "follows": ~first & ~late, "stamp_s": ticks.at_s, "time_s": ticks.at_s - began,
        "state": np.full(size, ACTIVE), "reason": np.full(size, OK), "filtered": np.zeros(size, bool),
        "whole": np.full(size, known), "observation": observations_of(found, layout, name, contract.observation.spec),
        "nominal": ticks.command, "command": ticks.command, "pos_m": pos, "quat_wxyz": quat, "vel_m_s": vel,
        "omega_rad_s": omega, "goal_m": np.broadcast_to(goal, (size, 3)),
    }  # fmt: skip
