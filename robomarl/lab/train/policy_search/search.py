"""Policy search: CMA-ES (Hansen and Ostermeier, 2001) over the gains of the task's law, on whole
episodes.

Noise is on the parameters and credit goes to whole episodes, so no credit has to be assigned to
single actions. All candidates of a generation meet equal episodes (common random numbers): starts,
weather, noise.

Letters in shapes: C candidates, K episodes each, G gains, N robots.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from robomarl.core.bundle.provenance import Ancestor
from robomarl.core.config import UserError
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.law import GainedLaw, Gains, decided, memory_of, numbers_of
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.simulation import simulation_of
from robomarl.lab.train.algorithm import training_env
from robomarl.lab.train.config import SearchConfig, TrainConfig
from robomarl.lab.train.policy_search.structured import gained_law, load_law, picker, save_law
from robomarl.lab.train.run.logs import Logs
from robomarl.lab.train.run.run_folder import ObservationStats, create_run

MOST = 4.0
"""Largest gains, in steps."""
FIRST = "first"
"""Name of the team with the law's own gains."""
RIVAL = 1
"""Number of the key that draws the other team."""
FAILED = -30.0
"""Score of the end of an episode by failure."""


@dataclass(frozen=True)
class SearchOptions:
    """How a search is carried out."""

    out: Path
    """Run folder."""
    seed: int = 0
    quiet: bool = False
    """No progress bar."""
    minutes: float = math.inf
    """Time [min] after which no generation begins."""
    ancestry: tuple[Ancestor, ...] = ()
    """Bundles that it goes on from."""
    recipe: str = ""
    """Name or file of the recipe, for messages; "" if there is none."""


class Rivals(NamedTuple):
    """R teams that the other team of an episode is drawn from."""

    gains: jax.Array
    """[R, G]"""
    filtered: jax.Array
    """[R] bool: the team is behind the filter. The one with the law's own gains is not, as the script of `eval`."""


def search_run(config: TrainConfig, scenario: Scenario, options: SearchOptions) -> dict:
    """Search, and save the mean of the last generation as a run folder.

    Raises:
        UserError: the scenario's law has no gains to search or not one that the recipe names, its steps or teams
            can't be searched with, or the folder exists.
    """
    from cmaes import CMA

    law = gained_law(scenario)
    env, count = training_env(config, scenario), config.search.candidates
    score = jax.jit(make_score(env, law, config.search, config.num_envs // count))
    with names(options.recipe):
        first = numbers_of(first_gains(law, config.search.start))
        steps = steps_of(law, config.search)
        rivals = rivals_of(env, law, config.search)
        moved = np.flatnonzero(numbers_of(steps))
        step, least = (numbers_of(gains)[moved] for gains in (steps, law.search_least))
        start = first[moved] / step
        check_start(np.array(law.gains._fields)[moved], start, least / step)
    create_run(options.out, config, scenario, options.seed, options.ancestry)
    bounds = np.stack([least / step, start * 0 + MOST], -1)
    search = CMA(mean=start, sigma=config.search.first_std, bounds=bounds, seed=options.seed, population_size=count)

    def whole(found: np.ndarray) -> np.ndarray:
        """Return gains [..., G] from the searched values [..., S]."""
        gains = np.broadcast_to(first, (*found.shape[:-1], len(first))).copy()
        gains[..., moved] = found * step
        return gains

    def keep() -> Gains:
        """Save the mean of the newest generation, and return it."""
        best = law.gains._replace(**dict(zip(number_names(law), whole(search.mean).tolist(), strict=True)))
        save_law(options.out, best, seen_by(scenario, law.with_gains(best), options.seed))
        return best

    with kept_if_stopped(options, keep):
        row = generations(config, env, lambda key, asked: score(key, whole(asked), rivals), search, options)
    return {"run": str(options.out), "scenario": scenario.name, **row, "gains": keep()._asdict()}


@contextmanager
def kept_if_stopped(options: SearchOptions, keep: Callable[[], object]) -> Iterator[None]:
    """Call `keep`, which saves the law, if Ctrl-C stops the run, and say so; the `KeyboardInterrupt` goes on."""
    try:
        yield
    except KeyboardInterrupt:
        keep()
        print(f"\n{options.out}: Ctrl-C stopped the run; law.json has what was found so far, for eval and export.")
        raise


@contextmanager
def names(recipe: str) -> Iterator[None]:
    """Put the recipe before the sentence of a `UserError`."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{recipe}: {error}" if recipe else str(error)) from None


def keep_gains(config: TrainConfig, scenario: Scenario, gains: Gains, options: SearchOptions) -> None:
    """A run folder of the law with these gains, as if a search had ended with them; raises `UserError` if it exists."""
    create_run(options.out, config, scenario, options.seed, options.ancestry)
    save_law(options.out, gains, seen_by(scenario, gained_law(scenario).with_gains(gains), options.seed))


def number_names(law: GainedLaw) -> list[str]:
    """Return the names of the gains that are numbers, which a recipe may name; layers of a network are none."""
    return [name for name, value in law.gains._asdict().items() if np.ndim(value) == 0]


def first_gains(law: GainedLaw, named: dict[str, float], key: str = "start") -> Gains:
    """Return the gains at the start of the search; raise `UserError` for a name in `key` that is no number of the
    law's gains.
    """
    known = number_names(law)
    if unknown := sorted(set(named) - set(known)):
        raise UserError(
            f"search.{key} of the recipe: {unknown[0]} is no gain of the law that is a number; "
            f"allowed: {', '.join(known)}."
        )
    return law.search_from._replace(**named)


def steps_of(law: GainedLaw, worth: SearchConfig) -> Gains:
    """Return the step of each gain; raise `UserError` for a name in `steps` that is no number of the law's gains, or
    steps that are all 0.
    """
    known = first_gains(law, worth.steps, "steps")
    own = law.search_step._replace(**worth.steps)
    if worth.steps_alone:
        own = known._replace(**{name: worth.steps.get(name, 0.0) for name in number_names(law)})
    if not any(own):
        raise UserError(
            f"search.steps of the recipe: each gain has a step of 0, so none is searched; give {own._fields[0]} or "
            "another one a step above 0."
        )
    return own


def check_start(names: np.ndarray, start: np.ndarray, least: np.ndarray) -> None:
    """Raise `UserError` for a gain [S] that does not start between the least one and `MOST`, all in steps [S]."""
    outside = np.flatnonzero((start < least) | (start > MOST) | (least >= MOST))
    if len(outside):
        name, at, low = (values[outside[0]] for values in (names, start, least))
        raise UserError(
            f"search of the recipe: {name} starts at {at:.3g} steps, and is searched from {low:.3g} to {MOST:g} steps; "
            f"change start.{name} or steps.{name} of [search]."
        )


def generations(
    config: TrainConfig, env: AgentsEnv, score: Callable, search: Gains, options: SearchOptions
) -> dict[str, float]:
    """Generation after generation until the recipe's agent-steps or the minutes are spent; the last row of the log."""
    steps = config.num_envs * env.scenario.max_steps * env.num_agents
    started, row = time.monotonic(), {}
    with closing(Logs(options.out, 0)) as logs:
        for i in tqdm(range(max(1, config.last_step // steps)), "generations", disable=options.quiet or None):
            if row and time.monotonic() - started > 60 * options.minutes:
                break
            asked = np.stack([search.ask() for _ in range(search.population_size)])
            found = np.asarray(score(jax.random.fold_in(jax.random.key(options.seed), i), asked))
            search.tell([(x, -float(value)) for x, value in zip(asked, found, strict=True)])
            row = {"update": i + 1, "steps": (i + 1) * steps, "seconds": time.monotonic() - started}
            row |= {"score": float(found.mean()), "score_best": float(found.max())}
            logs.write(row)
    return row


def make_score(
    env: AgentsEnv, law: GainedLaw, worth: SearchConfig, episodes: int
) -> Callable[[jax.Array, jax.Array, Rivals | None], jax.Array]:
    """Return the function (key, gains [C, G], rivals) -> [C] mean score of each candidate, on equal episodes for all.

    Rivals are an argument and no constants, so that searches that differ in them alone share one compiled program.
    """

    def with_own(own: jax.Array) -> GainedLaw:
        return law.with_gains(type(law.gains)(*own))

    def score(key: jax.Array, gains: jax.Array, rivals: Rivals | None = None) -> jax.Array:
        keys = jax.random.split(key, episodes)
        each = jax.vmap(lambda own: jax.vmap(lambda k: fly(env, with_own(own), worth, k, rivals))(keys))
        return each(jnp.asarray(gains, jnp.float32)).mean(-1)

    return score


def fly(env: AgentsEnv, law: GainedLaw, worth: SearchConfig, key: jax.Array, rivals: Rivals | None = None) -> jax.Array:
    """Return the score of one episode under the law; decisions after its end do not count.

    In games without `rivals` all robots fly the law. Else the key draws the other team from them, and only a team that
    was searched is behind the filter.
    """
    pick, imitated = picker(env.observation, law.observation), simulation_of(env.scenario).imitated
    assert imitated is not None, "whoever has a law has this"
    rival, ours = None, env.num_agents
    if rivals is not None:
        rival, filtered = drawn(law, rivals, key)
        ours = env.scenario.count
        env = env.without_filter((jnp.arange(env.num_agents) >= ours) & ~filtered)

    def decide(now: tuple, _: None) -> tuple[tuple, jax.Array]:
        state, alive, mine, theirs = now
        seen = pick(state.obs)  # type: ignore[arg-type]
        mine, command = decided(law, mine, seen)
        if rival is not None:
            theirs, answer = decided(rival, theirs, seen)
            command = jnp.concatenate([command[:ours], answer[ours:]])
        after = env.step(state, command)
        world = after.pipeline_state.world  # type: ignore[union-attr]
        distance, angle = imitated.errors(env.scenario, world)
        more = worth.exact_per_s * jnp.exp(-distance / worth.exact_m - angle / worth.exact_rad)
        late = imitated.is_late(env.scenario, world) if imitated.is_late else False
        more = (more - worth.late_per_s * late) * env.scenario.period_s
        gained = alive * (after.reward[:ours].mean() + more + FAILED * after.metrics["contact"])
        return (after, alive * (1 - after.done), mine, theirs), gained

    blank = jax.tree.map(jnp.asarray, memory_of(law, (env.num_agents,)))
    start = (env.reset(key), jnp.ones(()), blank, blank)
    gained = jax.lax.scan(decide, start, None, length=env.scenario.max_steps)[1]
    return gained.sum()


def rivals_of(env: AgentsEnv, law: GainedLaw, worth: SearchConfig) -> Rivals | None:
    """Return the teams that the other team is drawn from; None: there is no other team, or it flies the same gains.

    Raises:
        UserError: `teams` are named in a task without opponents, or one of them is no run of this task.
    """
    is_game = env.num_agents > env.scenario.count
    if worth.teams and not is_game:
        raise UserError(
            f"search.teams of the recipe: task = {env.scenario.task!r} has no opponents; leave teams out of [search]."
        )
    if not is_game or (worth.opponents == "itself" and not worth.teams):
        return None
    names = worth.teams or (FIRST,)
    gains = [law.search_from if name == FIRST else gains_of(name, env.scenario) for name in names]
    return Rivals(jnp.asarray(gains, jnp.float32), jnp.array([name != FIRST for name in names]))


def gains_of(team: str, scenario: Scenario) -> Gains:
    """Return the gains of a run folder; raise `UserError` if it is of another task than the scenario."""
    run = load_law(team)
    if run.scenario.task != scenario.task:
        raise UserError(
            f"search.teams of the recipe: {team} is a run of task = {run.scenario.task!r}, not of {scenario.task!r}; "
            "name a run of this task."
        )
    return run.gains


def drawn(law: GainedLaw, rivals: Rivals, key: jax.Array) -> tuple[GainedLaw, jax.Array]:
    """Return the law of the team that the key draws, and whether it is behind the filter."""
    number = jax.random.randint(jax.random.fold_in(key, RIVAL), (), 0, len(rivals.filtered))
    return law.with_gains(type(law.gains)(*rivals.gains[number])), rivals.filtered[number]


def seen_by(scenario: Scenario, law: GainedLaw, seed: int, episodes: int = 16) -> ObservationStats:
    """Return statistics [O] of the robots' observations under the law, from some episodes on `fast`.

    Observations of after the end of an episode do not count.
    """
    imitated = simulation_of(scenario).imitated
    assert imitated is not None, "whoever has a law has this"
    team, spec = simulation_of(scenario).batch(scenario, "fast", episodes, seed), make_env(scenario).observation
    team.reset()
    memory, read, rows = spec.init(team.views()), law.observation.init(team.views()), []
    alive, held = np.ones(episodes, bool), None
    for _ in range(scenario.max_steps):
        if not alive.any():
            break
        views = team.views()
        memory, obs = spec.observe(memory, views)
        read, seen = law.observation.observe(read, views)
        rows.append(obs[alive].reshape(-1, obs.shape[-1]).astype(float))
        held, command = decided(law, held or memory_of(law, seen.shape[:-1]), seen)
        team.step(command)
        alive &= ~np.asarray(imitated.failed(scenario, team.world))
    every = np.concatenate(rows)
    return ObservationStats(every.mean(0), np.maximum(every.std(0), 1e-6), every.min(0), every.max(0))
