"""Runs of one process that differ in their seeds alone share compiled programs, and have the figures of runs apart."""

from dataclasses import replace
from pathlib import Path

from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.initial.kept import KeptPrograms
from robomarl.lab.train.run.options import RunOptions
from robomarl.lab.train.run.runner import train_run

CONFIG = TrainConfig(
    scenario="swap_2", num_envs=8, unroll=4, epochs=1, minibatches=2, total_steps=256,
    network=NetworkConfig(actor_hidden=(8,), critic_hidden=(8,)),
)  # fmt: skip


def test_a_run_of_another_seed_uses_the_programs_again_and_one_of_another_recipe_does_not(tmp_path: Path):
    kept, scenario, found = KeptPrograms(), load_scenario("swap_4"), {}

    def run(name: str, seed: int, config: TrainConfig, programs: KeptPrograms) -> None:
        options = RunOptions(tmp_path / name, seed, quiet=True, evaluations=0, kept=programs)
        row = train_run(config, scenario, options)[0]
        found[name] = {key: value for key, value in row.items() if key != "seconds"}

    run("first", 0, CONFIG, kept)
    (programs,) = kept._kept.values()
    run("second", 1, CONFIG, kept)
    assert list(kept._kept.values()) == [programs], "nothing was compiled anew"
    run("alone", 1, CONFIG, KeptPrograms())
    assert found["second"] == found["alone"] != found["first"]
    run("other", 1, replace(CONFIG, clip=0.1), kept)
    assert list(kept._kept.values()) != [programs]
