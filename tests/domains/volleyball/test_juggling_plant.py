"""The held-out plant of juggling: its contact bounces as asked, it hovers, and it is made of no engine's code."""

import ast
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")

from benchmarks.volleyball.juggling_plant import BALL_M, Deviations, JugglingPlant
from robomarl.core.hardware.vehicle import load_vehicle

ABOVE_M = 0.055
HOVER = np.zeros(4)


def dropped(deviations: Deviations, height_m: float) -> tuple[float, JugglingPlant]:
    """Speed after over speed before the bounce of a ball that falls on a hovering vehicle."""
    plant = JugglingPlant(load_vehicle("iris_racket"), deviations, ABOVE_M)
    plant.place(np.array([0.0, 0.0, 5.0]), np.array([0.0, 0.0, 5.0 + ABOVE_M + BALL_M + height_m]))
    before = after = 0.0
    while plant.data.time < 2.0 and after <= 0:
        plant.run(plant.data.time + 0.001, HOVER)
        relative = float(plant.data.qvel[8] - plant.data.qvel[2])
        before, after = (min(before, relative), 0.0) if not plant.hits else (before, after)
        if plant.hits and plant._contact()[0][2] == 0:
            after = relative
    return -after / before, plant


@pytest.mark.parametrize(("restitution", "height_m"), [(0.7, 1.0), (0.785, 0.5), (0.785, 2.0), (0.86, 1.0)])
def test_a_ball_bounces_as_asked(restitution: float, height_m: float):
    found, plant = dropped(Deviations(restitution=restitution), height_m)
    assert plant.hits == 1
    assert found == pytest.approx(restitution, abs=0.03)


def test_a_vehicle_that_is_heavier_than_believed_is_learned():
    plant = JugglingPlant(load_vehicle("iris_racket"), Deviations(mass=1.1), ABOVE_M)
    plant.place(np.array([0.0, 0.0, 5.0]), np.array([3.0, 0.0, 500.0]))
    plant.run(6.0, HOVER)
    speed = plant.data.qvel[2]
    plant.run(7.0, HOVER)
    assert abs(plant.data.qvel[2] - speed) < 0.01, "it accelerates no more"


def test_the_plant_imports_nothing_of_the_engines(root: Path):
    for file in (root / "benchmarks/volleyball").glob("juggling*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(".lab" in str(name) for name in names), file
