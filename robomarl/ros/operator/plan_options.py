"""`PlanOptions`: options of an operator for the start of a fleet. No ROS here.

`robomarl up` and the launch files offer these and nothing else. The meaning of each option is
written here only.
"""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robomarl.core.config import UserError

RECORDINGS = Path("runs", "field")
"""Folder of recordings for which no folder was named."""


def option(default: Any, text: str) -> Any:
    """Return a field with the help text that operators read."""
    return field(default=default, metadata={"text": text})


@dataclass(frozen=True)
class PlanOptions:
    """Options that the operator chooses."""

    bundle: str = option("", "name or folder of a bundle for all robots, instead of what each was flashed with")
    against: str = option("", "of a game: the same for the second team, if it is another one")
    match_s: float = option(0.0, "of a game: length of a match; 0: the scenario's")
    namespace: str = option("", "namespace above the robots' own")
    root: str = option("", "folder that the robots' relative folders are below; by default the working directory")
    robots: tuple[str, ...] = option((), "start the policy nodes of these only; by default of the whole fleet")
    policies: bool = option(True, "start policy nodes; real robots that start their own need only the rest")
    sim: bool = option(False, "simulate the robots with MuJoCo")
    record: str = option("", "folder of the recording (MCAP); none without it")
    params_file: str = option("", "ROS parameter file that all nodes read first")
    use_sim_time: bool = option(False, "take the time from /clock")
    autostart: bool = option(False, "arm and activate each robot once it is READY and has a goal: it moves then")
    log_level: str = option("info", "of all nodes")
    seed: int = option(0, "of the simulator's first flight")
    log_dir: str = option("", "folder for the simulator's true logs")
    link: bool = option(False, "put the link emulator between the robots: rehearse loss, delay, faults of sensors")
    mission: str = option("", "where the load is to go, and when: a name of ros_nodes/missions, or a YAML file")
    tell_goals: bool = option(
        False, "in a simulation robots are told the scenario's goals, until somebody else tells them others"
    )
    monitor: bool = option(True, "start the team's monitor: on one machine only")
    vehicles: str = option(
        "",
        "adapter between robots and vehicles: crazyflie, crazyswarm, px4, px4_dds, mavros, ardupilot, ssl (simulated "
        "ones answer like real ones) or base",
    )
    mocap: str = option("", "motion capture that tells where robots are: named_poses, pose or tf")
    ground: bool = option(False, "simulated robots start on the ground: they take off before the policy flies")
    domain_id: int | None = option(None, "ROS domain; by default the environment's")
    keystore: str = option("", "absolute folder with the enclaves of the nodes (SROS2); without it the network is open")


def check_recording(folder: str) -> None:
    """Refuse a recording that exists: a recorder that dies and is started again goes on beside its own.

    Raises:
        UserError: the folder exists.
    """
    if folder and Path(folder).exists():
        raise UserError(f"{folder}: exists already; name another folder for the recording.")


def new_recording(fleet: str) -> str:
    """Folder for a recording that begins now."""
    return str(RECORDINGS / f"{fleet}_{time.strftime('%Y%m%d_%H%M%S')}")
