"""A mistake in the `messages` of somebody's domain: the simulator behind ROS names it, with file and line."""

import re
import shutil
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros.io.environment import environment
from robomarl.ros.io.processes import Processes, child_environment, claimed_domain
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.plan_options import PlanOptions

RETURNS = re.compile(r'    return \{"flag": PointStamped.*')
MISTAKES = [
    ("raise ValueError('no flag')", "the simulation failed: ValueError: no flag (FILE, line LINE, in messages)"),
    ("import numpy; numpy.linalg.inv([0])", "at least two-dimensional (FILE, line LINE, in messages)"),
    ("return {'flag': 'here'}", "messages() returned str for 'flag', which is of type PointStamped."),
    ("return {'flog': PointStamped()}", "messages() returned a message for 'flog'; did you mean 'flag'?"),
    ("return None", "messages() returned None, not a message by the name of each topic (flag)."),
]


@pytest.mark.ros
@pytest.mark.parametrize(("line", "words"), MISTAKES, ids=[line for line, _ in MISTAKES])
def test_the_mistake_is_the_cause_that_is_told(toy: Path, site: Path, line: str, words: str):
    """Not what comes of it: the context that is shut down while the executor is made."""
    file = site / "flag_team" / "simulation.py"
    sound = file.read_text()
    wrong = RETURNS.sub(f"    {line}", sound)
    number = wrong[: wrong.index(f"    {line}")].count("\n") + 1
    specs = [spec for spec in plan_fleet(load_fleet("flag_2.yaml"), PlanOptions(sim=True)) if spec.name == "sim"]
    shutil.rmtree(file.parent / "__pycache__", ignore_errors=True)
    file.write_text(wrong)
    lines: list[str] = []
    try:
        with claimed_domain(None) as domain, Processes(lambda name, text: lines.append(text)) as processes:
            processes.start(specs, child_environment(environment(True, domain)))
            while not processes.dead():
                time.sleep(0.05)
            with pytest.raises(UserError) as raised:
                processes.check()
    finally:
        shutil.rmtree(file.parent / "__pycache__", ignore_errors=True)
        file.write_text(sound)
    said = str(raised.value)
    assert said.startswith("/sim ended with status 1: ")
    assert words.replace("FILE", str(file)).replace("LINE", str(number)) in said
    assert str(file) in said and "\n" not in said
    assert not any("Traceback" in text for text in lines), lines
