"""`evaluate`: episodes with a policy behind a filter on any engine, counted by the scenario's domain."""

from robomarl.core.domain.scenario import needed
from robomarl.core.types import Figures
from robomarl.lab.evaluate.episodes import EpisodeRunner, batch_size
from robomarl.lab.evaluate.evaluation import EvalConfig, Evaluation, FlownPolicy
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.score import settled_errors_m, successes
from robomarl.lab.sim.batch import BatchSim
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of


def conditions_of(policy: FlownPolicy, scenario: Scenario, config: EvalConfig) -> Figures:
    """Return the JSON fields that identify the policy, the scenario and the conditions of the evaluation."""
    return {
        "policy": policy.name,
        "scenario": scenario.name,
        "sim": config.sim,
        "episodes": config.episodes,
        "seed": config.seed,
        "filter": config.filter,
        "robots": scenario.count,
    }


def evaluate(policy: FlownPolicy, scenario: Scenario, config: EvalConfig) -> Evaluation:
    """Run `config.episodes` episodes and count.

    Raises:
        UserError: unknown engine, the policy does not fit the scenario's vehicle, or a game, which has matches.
    """
    size = batch_size(config.episodes)
    return evaluate_on(simulation_of(scenario).batch(scenario, config.sim, size, config.seed), policy, config)


def evaluate_on(sim: BatchSim, policy: FlownPolicy, config: EvalConfig) -> Evaluation:
    """Run `evaluate` in an existing simulation, on any plant; `config.sim` only names it."""
    scenario = sim.scenario
    evaluated = simulation_of(scenario).evaluation
    make_score = needed(evaluated.score, scenario, "episodes of one policy, only matches")
    score = make_score(scenario, config.hover_s)
    pilot = make_pilot(evaluated.mixed_team(policy, scenario), scenario, config.filter)
    runner = EpisodeRunner(pilot, sim, score, config.record)
    done = runner.run(config.episodes, f"{policy.name} on {config.sim}", config.progress)
    speed = {"realtime_factor": runner.realtime_factor}
    values = {**conditions_of(policy, scenario, config), **score.figures(done), **speed}
    return Evaluation(values, successes(done), settled_errors_m(done), score.log(runner.rows))
