"""`SIMULATION` of drones that play volleyball."""

from robomarl.domains.volleyball.lab.check import probe_of
from robomarl.domains.volleyball.lab.controllers import law_of
from robomarl.domains.volleyball.lab.evaluation.score import VolleyScore
from robomarl.domains.volleyball.lab.model import MODEL, judged
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.scenario_check import check_scenario
from robomarl.domains.volleyball.lab.staging import STAGING
from robomarl.lab.evaluate.model_episodes import simulation_of_model
from robomarl.lab.sim.law import FlownLaw
from robomarl.lab.sim.model.batch import ModelSim
from robomarl.lab.simulation import Imitated


def batch(scenario: VolleyScenario, sim: str, num_envs: int, seed: int) -> ModelSim:
    """E episodes side by side on the engine of that name; raises `UserError` where there is none."""
    if sim == "mujoco":
        from robomarl.domains.volleyball.lab.engines.mujoco import VolleyMujoco

        return VolleyMujoco((MODEL, judged), scenario, num_envs, seed)
    from robomarl.lab.sim.model.engines import make_model_sim

    return make_model_sim(MODEL, scenario, sim, num_envs, seed)


def baseline(scenario: VolleyScenario) -> FlownLaw:
    """The analytic skill of the task, with the gains that a search begins with."""
    return FlownLaw(scenario, law_of(scenario), MODEL.action(scenario))


IMITATED = Imitated(
    law=lambda scenario: law_of,
    failed=MODEL.ended,
    is_harsh=lambda scenario: False,
    harder=lambda scenario: scenario,
    errors=lambda scenario, world: (world.pos_m[..., 0, 0] * 0, world.pos_m[..., 0, 0] * 0),  # its reward says it all
)
SIMULATION = simulation_of_model(
    MODEL,
    VolleyScenario,
    VolleyScore,
    check_scenario=check_scenario,
    batch=batch,
    probe=probe_of,
    controllers={"baseline": baseline},
    imitated=IMITATED,
    staging=STAGING,
)
