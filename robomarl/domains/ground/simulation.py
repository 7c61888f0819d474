"""`SIMULATION` of teams of ground robots."""

from robomarl.domains.ground.check import PROBE
from robomarl.domains.ground.controllers.scripted import ScriptedRobots
from robomarl.domains.ground.evaluation.score import GroundScore
from robomarl.domains.ground.limits import check_scenario, filter_params
from robomarl.domains.ground.model import MODEL
from robomarl.domains.ground.scenario import GroundScenario
from robomarl.evaluate.model_episodes import simulation_of_model

SIMULATION = simulation_of_model(
    MODEL,
    GroundScenario,
    GroundScore,
    check_scenario=check_scenario,
    filter_params=filter_params,
    probe=lambda scenario: PROBE,
    controllers={"baseline": ScriptedRobots},
)
