"""Kinds of team defined by a few array-generic functions, from which environments, engines and checks are built."""

from robomarl.lab.sim.model.accelerated import accelerated
from robomarl.lab.sim.model.model import Model, Mujoco
from robomarl.lab.sim.model.point_masses import point_masses
from robomarl.lab.sim.model.scenario import TeamScenario
from robomarl.lab.sim.model.world import TeamWorld, placed

__all__ = ["Model", "Mujoco", "TeamScenario", "TeamWorld", "accelerated", "placed", "point_masses"]
