"""Arguments of a launch file, and the nodes that they start. No ROS here, and none of its launch API.

A launch file declares `arguments()`, and turns the result of `launch_plan` into actions; it decides
nothing itself.
"""

import os
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.environment_check.check import check_environment
from robomarl.ros.io.environment import environment
from robomarl.ros.io.processes import PARENT_ENV
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.operator.plan_options import PlanOptions, check_recording, new_recording

YES, NO = ("true", "1", "yes", "on"), ("false", "0", "no", "off")
NAMED = {"tell_goals": "goals"}
"""Options with an argument of another name."""
LEFT_OUT = ("keystore", "match_s", "log_dir", "record")
"""Options that are no arguments. `launch` has no enclave itself, so it could not configure nodes that have."""
REHEARSALS: dict[str, dict[str, str]] = {
    "goto_4": {"fleet": "goto_4", "bundle": "swap_4", "sim": "true"},
    "lift_3": {"fleet": "lift_3", "bundle": "lift_3", "sim": "true", "ground": "true", "mission": "lift_3"},
    "lift_4": {"fleet": "lift_4", "sim": "true", "ground": "true"},
    "lift_6": {"fleet": "lift_6", "sim": "true", "ground": "true"},
    "soccer_2v2": {"fleet": "soccer_2v2", "bundle": "soccer_2v2", "sim": "true"},
    "soccer_3v3": {"fleet": "soccer_3v3", "bundle": "soccer_2v2", "sim": "true"},
    "swap_4": {"fleet": "local_4", "bundle": "swap_4", "sim": "true"},
    "swap_4_pillar": {"fleet": "swap_4_pillar", "sim": "true"},
    "swap_8": {"fleet": "swap_8", "sim": "true"},
    "swap_16": {"fleet": "swap_16", "sim": "true"},
}
"""Defaults of the launch file's arguments, by the name of each link to it."""


@dataclass(frozen=True)
class Argument:
    """One argument of a launch file."""

    text: str
    default: str | None = None
    """None: it must be given."""


@dataclass(frozen=True)
class Launched:
    """Nodes to start, and their environment."""

    nodes: list[NodeSpec]
    """Nodes in the order of their start."""
    environment: dict[str, str]
    """Environment of all nodes, and of the program that configures them."""


def launch_plan(given: Mapping[str, str]) -> Launched:
    """Return the nodes that the arguments start; all of `arguments()` must be given.

    Raises:
        UserError: an argument has no valid value, or the plan is not possible.
    """
    fleet = load_fleet(given["fleet"])
    values = {f.name: _read(f.name, f.default, given[NAMED.get(f.name, f.name)]) for f in _options()}
    recorded = _read("record", True, given["record"])
    options = PlanOptions(
        **values, record=_folder(given["record_dir"] or new_recording(fleet.name)) if recorded else ""
    )
    check_recording(options.record)
    shared = environment(options.sim, options.domain_id) | {PARENT_ENV: str(os.getpid())}
    check_environment({**os.environ, **shared})
    return Launched(plan_fleet(fleet, options), shared)


def _folder(name: str) -> str:
    """Absolute, because nodes may run elsewhere."""
    return str(Path(name).absolute())


def _options() -> list[Field]:
    return [f for f in fields(PlanOptions) if f.name not in LEFT_OUT]


def _read(name: str, default: object, text: str) -> Any:
    """An argument as its option has it."""
    word = text.strip().lower()
    try:
        if isinstance(default, bool):
            return {**dict.fromkeys(YES, True), **dict.fromkeys(NO, False)}[word]
        if isinstance(default, tuple):
            return tuple(filter(None, (part.strip() for part in text.split(","))))
        if isinstance(default, int) or default is None:
            return int(word) if word else None
    except (KeyError, ValueError):
        wanted = "true or false" if isinstance(default, bool) else "a whole number"
        raise UserError(f"launch argument {NAMED.get(name, name)}:={text} must be {wanted}.") from None
    return text


def arguments() -> dict[str, Argument]:
    """Return the arguments by name, as `ros2 launch` takes them."""
    found = {"fleet": Argument("name of a fleet in hardware_configs/fleets, or a YAML file")}
    for f in _options():
        assert f.default is not MISSING
        default = "true" if f.name == "tell_goals" else _written(f.default)  # nobody else would tell them
        found[NAMED.get(f.name, f.name)] = Argument(f.metadata["text"], default)
    found["record"] = Argument("record everything (MCAP)", "true")
    found["record_dir"] = Argument("folder of the recording; by default runs/field/FLEET_DATE_TIME", "")
    return found


def _written(default: object) -> str:
    if isinstance(default, tuple):
        return ",".join(default)
    return "" if default is None else str(default).lower() if isinstance(default, bool) else str(default)
