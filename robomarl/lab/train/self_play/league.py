"""Opponents of a team while it learns: scripts, itself, and earlier snapshots, each on a part of the
batch.

Opponents are sampled by how often they win (prioritized fictitious self-play, Vinyals et al.,
Nature 2019), and all players are rated (Elo, 1978). Everything here is pure, and part of the
training state.

Letters in shapes: B games, N robots of a team, G parts of the batch, S parts with snapshots, P
snapshots kept.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from brax.training.acme.running_statistics import RunningStatisticsState

from robomarl.core.config import UserError
from robomarl.core.view import LocalView
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.sides import team_view
from robomarl.lab.simulation import Games, ScriptedPlayers, simulation_of
from robomarl.lab.train.config import SelfPlayConfig, TrainConfig
from robomarl.lab.train.distribution import squash
from robomarl.lab.train.networks import Carry, Networks
from robomarl.lab.trees import Params, Tree

START_ELO = 1000.0
ELO_GAIN = 2.0
"""Elo points for one game more than expected."""
KEEP = 0.98
"""Fraction of the counts of goals that remains after an update."""


class ActorSnapshot(NamedTuple):
    """A trained team: actor and statistics of its input; with a leading axis, many teams."""

    params: Params
    stats: RunningStatisticsState


def as_team(params: Params, stats: RunningStatisticsState) -> ActorSnapshot:
    """The team of these; some statistics are Python's numbers, which have no leading axis."""
    return ActorSnapshot(params, jax.tree.map(jnp.asarray, stats))


def copies(team: ActorSnapshot, count: int) -> ActorSnapshot:
    """Return `count` copies of a team, along a leading axis."""
    return jax.tree.map(lambda x: jnp.repeat(x[None], count, 0), team)


class TrainedTeams(NamedTuple):
    """Teams that a recipe names, which never change."""

    teacher: ActorSnapshot | None = None
    """None: a script teaches, or nothing does."""
    opponents: ActorSnapshot | None = None
    """[T]; None: the recipe names none."""


NO_TEAMS = TrainedTeams()


class Memory(NamedTuple):
    """Memory of all players but the learner."""

    belief: Tree
    """[B, N] memory of scripts on the opposing side."""
    taught: Tree
    """[B, N, ...] of the teacher, a script's or a network's."""
    carry: Carry
    """[B, N, ...] memory of networks on the opposing side."""


class League(NamedTuple):
    """All opponents, and how the learner does against them."""

    memory: Memory
    pool: ActorSnapshot
    """[P] snapshots."""
    count: jax.Array
    """[] int: snapshots taken so far, the first at the start."""
    points: jax.Array
    """[P] the learner's points against each snapshot, a draw being half of one ..."""
    games: jax.Array
    """[P] ... and games."""
    playing: jax.Array
    """[S] int: which snapshots play now."""
    elo: jax.Array
    """[] of the learner."""
    script_elo: jax.Array
    """[scripts]; the first one's is fixed."""
    pool_elo: jax.Array
    """[P]"""
    goals: jax.Array
    """[2, G] lately: for, against."""


def num_parts(config: SelfPlayConfig) -> int:
    """G, equal parts of the batch."""
    return len(config.scripts) * config.script_parts + config.itself + config.snapshots + len(config.teams)


def first_league(config: TrainConfig, env: AgentsEnv, networks: Networks, team: ActorSnapshot) -> League:
    """The league before the first update: the pool holds the untrained team."""
    play, shape = config.self_play, (config.num_envs, env.scenario.count)
    belief, kept = games_of(env).no_memory(jnp.zeros(shape)), play.pool
    carry = networks.init_carry(shape)
    return League(
        memory=Memory(belief, carry if team_teaches(play, env) else belief, carry),
        pool=copies(team, kept),
        count=jnp.ones((), jnp.int32),
        points=jnp.zeros(kept),
        games=jnp.zeros(kept),
        playing=jnp.zeros(play.snapshots, jnp.int32),
        elo=jnp.asarray(START_ELO, jnp.float32),
        script_elo=jnp.full(len(play.scripts), START_ELO, jnp.float32),
        pool_elo=jnp.full(kept, START_ELO, jnp.float32),
        goals=jnp.zeros((2, num_parts(play))),
    )


def games_of(env: AgentsEnv) -> Games:
    """Return the games of the scenario's domain, which define the opposing team.

    Raises:
        UserError: the scenario has no opponents.
    """
    found = simulation_of(env.scenario).games
    if found is None:
        raise UserError(f"{env.scenario.name} is no game; leave out [self_play].")
    return found


def team_teaches(config: SelfPlayConfig, env: AgentsEnv) -> bool:
    """Return True if the teacher is a trained team."""
    return config.teacher not in ("", *games_of(env).scripts)


class Opponents:
    """Controllers of the opposing team in each part of the batch: scripts first, then the learner, snapshots, and
    teams that never change.
    """

    def __init__(self, config: TrainConfig, env: AgentsEnv, networks: Networks, teams: TrainedTeams = NO_TEAMS) -> None:
        """Assign the opponents to the parts of the batch."""
        self._play, self._env, self._networks = config.self_play, env, networks
        self._size = config.num_envs // num_parts(self._play)
        games = games_of(env)
        self._scripts = [games.player(env.scenario, name) for name in self._play.scripts]
        self._teacher: ActorSnapshot | ScriptedPlayers | None = teams.teacher
        self._fixed = teams.opponents
        if self._play.teacher in games.scripts:
            self._teacher = games.player(env.scenario, self._play.teacher)

    def teams(self, league: League, learner: ActorSnapshot) -> ActorSnapshot:
        """Return the teams [itself + S + T] of the parts without a script, the learner first."""
        mine = copies(learner, self._play.itself)
        theirs = jax.tree.map(lambda x: x[league.playing], league.pool)
        found = [mine, theirs, self._fixed] if self._fixed else [mine, theirs]
        return jax.tree.map(lambda *each: jnp.concatenate(each), *found)

    def act(self, memory: Memory, teams: ActorSnapshot, views: LocalView, obs: jax.Array) -> tuple[Memory, jax.Array]:
        """(memory, teams, views [B, M, ...] and observations [B, M, O] of all robots) -> (memory, [B, N, A])."""
        width, count = self._size * self._play.script_parts, self._env.scenario.count
        view, beliefs, commands = team_view(self._env.scenario, views, 1), [], []
        for i, script in enumerate(self._scripts):
            part = slice(i * width, (i + 1) * width)
            belief, command = script(*jax.tree.map(lambda x, p=part: x[p], (memory.belief, view)))
            beliefs.append(belief)
            commands.append(command)
        rest = width * len(self._scripts)
        if rest == len(obs):
            return memory._replace(belief=_joined(beliefs)), jnp.concatenate(commands)
        as_teams = partial(jnp.reshape, shape=(-1, self._size, count, obs.shape[-1]))
        carry = jax.tree.map(lambda x: x[rest:].reshape(-1, self._size, *x.shape[1:]), memory.carry)
        carry, command = jax.vmap(self._decide)(teams, carry, as_teams(obs[rest:, count:]))
        flat = jax.tree.map(lambda old, new: old.at[rest:].set(new.reshape(-1, *old.shape[1:])), memory.carry, carry)
        belief = memory.belief
        if beliefs:
            belief = jax.tree.map(lambda old, new: old.at[:rest].set(new), belief, _joined(beliefs))
        commands.append(command.reshape(-1, count, command.shape[-1]))
        return memory._replace(belief=belief, carry=flat), jnp.concatenate(commands)

    def _decide(self, team: ActorSnapshot, carry: Carry, obs: jax.Array) -> tuple[Carry, jax.Array]:
        carry, output = self._networks.act(team.params, carry, self._networks.normalize(obs, team.stats))
        return carry, squash(jnp.split(output, 2, axis=-1)[0], self._env.action)

    def teach(self, memory: Memory, views: LocalView, obs: jax.Array) -> tuple[Memory, jax.Array]:
        """Return from (memory, views, observations): (memory, the teacher's actions in our place [B, N, A], in [-1,
        1]).
        """
        spec, count = self._env.action, self._env.scenario.count
        assert self._teacher is not None, "asked only where there is one"
        if isinstance(self._teacher, ActorSnapshot):
            taught, command = self._decide(self._teacher, memory.taught, obs[:, :count])  # type: ignore[arg-type]
        else:
            taught, command = self._teacher(memory.taught, team_view(self._env.scenario, views, 0))  # type: ignore[arg-type]
        return memory._replace(taught=taught), (2 * command - spec.high - spec.low) / (spec.high - spec.low)


def _joined(parts: list[Tree]) -> Tree:
    """Memories of several parts of the batch as one."""
    return jax.tree.map(lambda *each: jnp.concatenate(each), *parts)


def score(config: SelfPlayConfig, league: League, won: jax.Array, lost: jax.Array, ended: jax.Array) -> League:
    """Count the results of an update's rallies, [G] numbers each: scored, conceded, ended; and rate everybody."""
    scripts, parts = len(config.scripts), config.script_parts
    points = won + 0.5 * (ended - won - lost)
    theirs = jnp.concatenate(
        [
            jnp.repeat(league.script_elo, parts),
            jnp.full(config.itself, league.elo),
            league.pool_elo[league.playing],
            jnp.full(len(config.teams), START_ELO),
        ]
    )
    gain = ELO_GAIN * (points - ended * expected(league.elo, theirs))
    by_script = gain[: scripts * parts].reshape(scripts, parts).sum(-1).at[:1].set(0.0)
    begin = scripts * parts + config.itself
    after = slice(begin, begin + config.snapshots)
    return league._replace(
        elo=league.elo + gain.sum(),
        script_elo=league.script_elo - by_script,
        pool_elo=league.pool_elo.at[league.playing].add(-gain[after]),
        points=league.points.at[league.playing].add(points[after]),
        games=league.games.at[league.playing].add(ended[after]),
        goals=KEEP * league.goals + jnp.stack([won, lost]),
    )


def expected(ours: jax.Array | float, theirs: jax.Array | float) -> jax.Array | float:
    """Points of one game that the ratings promise us (Elo, 1978)."""
    return 1 / (1 + 10 ** ((theirs - ours) / 400))


def next_round(league: League, learner: ActorSnapshot, key: jax.Array) -> League:
    """Replace the oldest snapshot by the learner, and draw the opponents: snapshots that win more are drawn more
    often.
    """
    kept = len(league.games)
    spot = league.count % kept
    league = league._replace(
        pool=jax.tree.map(lambda all_, new: all_.at[spot].set(new), league.pool, learner),
        count=league.count + 1,
        points=league.points.at[spot].set(0.0),
        games=league.games.at[spot].set(0.0),
        pool_elo=league.pool_elo.at[spot].set(league.elo),
    )
    wins = (league.points + 1) / (league.games + 2)
    weight = jnp.where(jnp.arange(kept) < league.count, (1 - wins) ** 2 + 1e-3, 0.0)
    return league._replace(playing=jax.random.categorical(key, jnp.log(weight), shape=league.playing.shape))


def league_metrics(config: SelfPlayConfig, league: League) -> dict[str, jax.Array]:
    """Ratings, and the share of the goals that was ours lately: against each script, and against snapshots."""
    goals_for, against = league.goals
    share, found = (goals_for + 0.5) / (goals_for + against + 1), {"elo/learner": league.elo}
    for name in dict.fromkeys(config.scripts):
        its = np.array(config.scripts) == name
        part = np.flatnonzero(np.repeat(its, config.script_parts))
        found[f"elo/{name}"] = league.script_elo[np.flatnonzero(its)].mean()
        found[f"share/{name}"] = (goals_for[part].sum() + 0.5) / (league.goals[:, part].sum() + 1)
    known = np.arange(len(league.games)) < league.count
    found["elo/best_snapshot"] = jnp.where(known, league.pool_elo, -jnp.inf).max()
    fixed = len(share) - len(config.teams)
    if config.snapshots:
        found["share/snapshots"] = share[fixed - config.snapshots : fixed].mean()
    if config.teams:
        found["share/teams"] = share[fixed:].mean()
    return found
