"""`evaluate`: episodes with a policy behind a filter on any engine, counted by the scenario's domain."""

from collections.abc import Callable
from functools import partial

from robomarl.core.bundle.pilot import Pilot
from robomarl.core.domain.scenario import needed
from robomarl.core.types import Figures
from robomarl.lab.evaluate.episodes import EpisodeRunner
from robomarl.lab.evaluate.evaluation import EvalConfig, Evaluation, FlownPolicy
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.score import TeamScore, settled_errors_m, successes
from robomarl.lab.evaluate.shared.parts import EpisodeJob, Flown, Made, fly
from robomarl.lab.evaluate.shared.portable import portable_policy
from robomarl.lab.sim.batch import BatchSim
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.trees import Tree


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
    """Run `config.episodes` episodes, shared by the `crew` if there is one, and count.

    Raises:
        UserError: unknown engine, the policy does not fit the scenario's vehicle, or a game, which has matches.
    """
    _score(scenario, config)  # a game is refused before anything is made
    make = partial(_made, portable_policy(policy), scenario, config)
    flights = EpisodeJob(make, config.episodes, f"{policy.name} on {config.sim}", config.record, config.progress)
    return _evaluation(policy, scenario, config, fly(flights))


def evaluate_on(sim: BatchSim, policy: FlownPolicy, config: EvalConfig) -> Evaluation:
    """Run `evaluate` in an existing simulation, on any plant; `config.sim` only names it."""
    runner = EpisodeRunner(_pilot(policy, sim.scenario, config), sim, _score(sim.scenario, config), config.record)
    counts = runner.run(config.episodes, f"{policy.name} on {config.sim}", config.progress)
    return _evaluation(policy, sim.scenario, config, Flown(counts, runner.rows, runner.realtime_factor))


def _made(policy: Callable[[], FlownPolicy], scenario: Scenario, config: EvalConfig, num: int) -> Made[Tree]:
    """All that flies `num` episodes side by side."""
    sim = simulation_of(scenario).batch(scenario, config.sim, num, config.seed)
    return _pilot(policy(), scenario, config), sim, _score(scenario, config)


def _pilot(policy: FlownPolicy, scenario: Scenario, config: EvalConfig) -> Pilot:
    return make_pilot(simulation_of(scenario).evaluation.mixed_team(policy, scenario), scenario, config.filter)


def _score(scenario: Scenario, config: EvalConfig) -> TeamScore:
    make = needed(simulation_of(scenario).evaluation.score, scenario, "episodes of one policy, only matches")
    return make(scenario, config.hover_s)


def _evaluation(policy: FlownPolicy, scenario: Scenario, config: EvalConfig, flown: Flown) -> Evaluation:
    score, done = _score(scenario, config), flown.counts
    speed = {"realtime_factor": flown.realtime_factor}
    values = {**conditions_of(policy, scenario, config), **score.figures(done), **speed}
    return Evaluation(values, successes(done), settled_errors_m(done), score.log(flown.rows))
