"""`bench start`: from the shell to the first output."""

import importlib.util
import subprocess
import sys
from statistics import median

from benchmarks import Row, seconds

REPEATS, NODE_REPEATS = 7, 3


def rows() -> list[Row]:
    """`robomarl --help`; the policy node from exec to ready where ROS 2 can be imported."""
    command = [sys.executable, "-m", "robomarl", "--help"]
    call = lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: E731
    call()
    took = median(seconds(call) for _ in range(REPEATS))
    return [Row("robomarl --help", "from exec to exit", took, "s"), *node_rows()]


def node_rows() -> list[Row]:
    """One policy node, from exec until it answers, and until its bundle is loaded, checked and warm."""
    if importlib.util.find_spec("rclpy") is None:
        return []
    from robomarl.core.hardware.fleet import load_fleet
    from robomarl.ros.operator.plan_options import PlanOptions
    from robomarl.ros.operator.rehearsal import bring_up

    fleet = load_fleet("local_4")
    plan = PlanOptions(bundle="swap_4", robots=(fleet.robots[0].name,))
    answers, ready = [], []
    for _ in range(NODE_REPEATS):
        with bring_up(fleet, plan, None, lambda name, line: None) as team:
            team.configure()
            answers.append(max(team.ready_s.values()))
            ready.append(answers[-1] + team.configure_s)
    return [
        Row("policy node", "from exec until it answers", median(answers), "s"),
        Row("policy node", "from exec to ready", median(ready), "s"),
    ]
