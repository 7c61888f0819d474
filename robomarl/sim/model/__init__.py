"""Kinds of team that are said by a few array-generic functions; environments, engines and checks are made of them."""

from robomarl.sim.model.accelerated import accelerated
from robomarl.sim.model.model import Model, Mujoco
from robomarl.sim.model.point_masses import point_masses
from robomarl.sim.model.scenario import TeamScenario
from robomarl.sim.model.world import TeamWorld, placed

__all__ = ["Model", "Mujoco", "TeamScenario", "TeamWorld", "accelerated", "placed", "point_masses"]
