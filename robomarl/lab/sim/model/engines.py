"""The engines of a `Model`, by name."""

from robomarl.core.config import UserError
from robomarl.lab.sim.model.batch import ModelSim
from robomarl.lab.sim.model.model import Model
from robomarl.lab.sim.scenario import Scenario


def make_model_sim(model: Model, scenario: Scenario, sim: str, num_envs: int, seed: int) -> ModelSim:
    """A batch of teams on the engine of that name.

    Raises:
        UserError: the model has no such engine.
    """
    if sim not in engines(model):
        raise UserError(f"--sim {sim} is no engine of {scenario.name}.toml; allowed: {', '.join(engines(model))}.")
    if sim == "mujoco":
        from robomarl.lab.sim.model.mujoco import MujocoSim

        return MujocoSim(model, scenario, num_envs, seed)
    return ModelSim(model, scenario, num_envs, seed)


def engines(model: Model) -> tuple[str, ...]:
    """Names of the engines that the model has."""
    return ("fast", "mujoco") if model.mujoco else ("fast",)
