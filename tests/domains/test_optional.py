"""What a kind of team need not have: the command line says so in one sentence."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from robomarl.core.config import UserError
from robomarl.core.domain.registry import domain_named
from robomarl.core.domain.scenario import needed
from robomarl.front.cli import prove, prove_worst
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.plants.plants import known_names
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_named


def test_a_game_has_no_episodes_of_one_policy():
    scenario = load_scenario("soccer_2v2")
    with pytest.raises(UserError, match=r"soccer_2v2.toml: task = 'soccer' has no episodes of one policy, only match"):
        evaluate(SimpleNamespace(), scenario, EvalConfig())  # type: ignore[arg-type]


def test_nothing_attacks_players():
    with pytest.raises(UserError, match=r"soccer_2v2.toml: task = 'soccer' has no attacks on mujoco; leave out --sim"):
        prove_worst.run_worst(prove.Args("soccer_2v2", worst=True, sim="mujoco"))


def test_vehicles_that_nobody_can_measure_are_named(monkeypatch: pytest.MonkeyPatch):
    domain = domain_named("soccer")
    scenario = load_scenario("soccer_1v1")
    assert "delay_s" in known_names(scenario)
    monkeypatch.setitem(domain.__dict__, "simulation", replace(simulation_named("soccer"), measured=None))
    with pytest.raises(UserError, match=r"has no plant on which its vehicle could be measured; name another scenario"):
        known_names(scenario)


def test_what_is_there_is_given():
    assert needed(1, load_scenario("swap_2"), "number") == 1


TASK = """
from dataclasses import replace
from robomarl.domains.flight.lab.tasks import swap

HOVER = replace(swap.TASK, weights={**swap.WEIGHTS, "yaw": -1.0})
"""


def test_a_task_of_another_package_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A reward for flying teams needs no domain of its own."""
    from robomarl.domains.flight.lab.tasks.registry import TASKS
    from robomarl.lab.sim.env import make_env

    (tmp_path / "hovering.py").write_text(TASK)
    (tmp_path / "hovering-1.0.dist-info").mkdir()
    (tmp_path / "hovering-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: hovering\nVersion: 1.0\n"
    )
    (tmp_path / "hovering-1.0.dist-info" / "entry_points.txt").write_text("[robomarl.tasks]\nhover = hovering:HOVER\n")
    file = tmp_path / "hover_2.toml"
    file.write_text('extends = "swap_2"\ntask = "hover"\n')
    with pytest.raises(UserError, match="task = 'hover' is not known"):
        load_scenario(str(file))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(TASKS, "hover", None)  # what is registered goes with the test
    del TASKS["hover"]
    env = make_env(load_scenario(str(file)))
    assert env.weights["yaw"] == -1.0
