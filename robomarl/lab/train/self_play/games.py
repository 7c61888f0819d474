"""Self-play: MAPPO of one team in games against a league of opponents, one program for the whole
batch.

While it is taught (`self_play.teach_share`), the learner plays, a teacher gives its own action in
each state, and the actor is fitted to these actions (Ross, Gordon and Bagnell, AISTATS 2011) while
the critic learns already; then PPO goes on.
"""

import jax
import jax.numpy as jnp
from brax.envs.base import State
from brax.training.acme import running_statistics as stats
from brax.training.acme import specs

from robomarl.core.config import UserError
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.distribution import check_noise, distribution, log_prob, noise_along, squash
from robomarl.lab.train.mappo import (
    episode_metrics,
    prepare_batch,
    untouched_range,
    update_epoch,
    update_observed,
    update_statistics,
)
from robomarl.lab.train.networks import make_networks
from robomarl.lab.train.optimizer import init_optimizer, norm
from robomarl.lab.train.rollout import forget, noise_floor, restart
from robomarl.lab.train.self_play import league as leagues
from robomarl.lab.train.self_play.league import NO_TEAMS, League, Memory, Opponents, TrainedTeams, as_team
from robomarl.lab.train.state import Metrics, Rollout, TrainState, Update

TAUGHT_LAST = 0.1
"""Last learning rate of the lessons over the first."""


def check_parts(config: TrainConfig) -> None:
    """Raises `UserError` where there are no opponents, or the batch can't be split among them."""
    parts = leagues.num_parts(config.self_play)
    if not parts:
        raise UserError("[self_play] has no opponents: name scripts or teams, or set itself or snapshots to 1 or more.")
    if config.num_envs % parts:
        raise UserError(f"num_envs = {config.num_envs} must be a multiple of the {parts} parts of [self_play].")


def init_games(config: TrainConfig, env: AgentsEnv, key: jax.Array) -> TrainState:
    """The state before the first update; see `robomarl.lab.train.mappo.init_state`."""
    check_parts(config)
    check_noise(config.noise, env.action)
    key, k_actor, k_critic, k_env, k_age = jax.random.split(key, 5)
    first = jax.vmap(env.reset)(jax.random.split(k_env, config.num_envs))
    age = jax.random.randint(k_age, (config.num_envs,), 0, leagues.games_of(env).rally_steps(env.scenario))
    rally = first.pipeline_state
    first = first.replace(pipeline_state=rally._replace(world=rally.world._replace(step=age)))  # type: ignore[union-attr]
    networks = make_networks(config.network, env.observation, env.action_size)
    seen = critic_input(env, first)
    actor = networks.actor.init(k_actor, networks.init_carry(()), first.obs[0, 0])
    params = {"actor": actor, "critic": networks.critic.init(k_critic, seen[0, 0])}
    obs_stats = stats.init_state(specs.Array((env.observation_size,), jnp.dtype("float32")))
    return TrainState(
        params=params,
        optimizer=init_optimizer(params),
        learning_rate=jnp.asarray(config.learning_rate, jnp.float32),
        obs_stats=obs_stats,
        obs_range=untouched_range(env.observation_size),
        critic_stats=stats.init_state(specs.Array((seen.shape[-1],), jnp.dtype("float32"))),
        value_stats=stats.init_state(specs.Array((), jnp.dtype("float32"))),
        env=first,
        carry=networks.init_carry((config.num_envs, env.scenario.count)),
        key=key,
        steps=jnp.zeros((), jnp.float32),
        level=jnp.zeros(0),
        goes_on=jnp.zeros((), bool),
        league=leagues.first_league(config, env, networks, as_team(actor, obs_stats)),
    )


def make_game_update(config: TrainConfig, env: AgentsEnv, robots: int = 0, teams: TrainedTeams = NO_TEAMS) -> Update:
    """One rollout of all games and the gradient steps on it, state -> (state, metrics).

    `robots` is how many there are of ours in all games that take turns with these (default: none do).
    """
    per_update = config.unroll * config.num_envs * (robots or env.scenario.count)
    networks = make_networks(config.network, env.observation, env.action_size)
    opponents = Opponents(config, env, networks, teams)

    def update(state: TrainState) -> tuple[TrainState, Metrics]:
        before = state
        state, rollout, wanted = collect_games(config, env, opponents, state)
        state = update_statistics(state, rollout)
        batch, state, value_metrics = prepare_batch(config, networks, state, rollout, env.scenario.period_s)
        taught = jnp.full(config.num_envs, is_taught(config, before.steps).astype(jnp.float32))
        batch = batch._replace(wanted=jnp.swapaxes(wanted, 0, 1), taught=taught)
        state, loss_metrics = jax.lax.scan(
            lambda s, _: update_epoch(config, networks, s, batch), state, None, length=config.epochs
        )
        state = update_observed(config, state, rollout)
        rate = jnp.where(is_taught(config, before.steps), teaching_rate(config, state.steps), state.learning_rate)
        state = state._replace(learning_rate=rate, league=play_on(config, state, rollout, per_update))
        metrics = {**episode_metrics(rollout), **value_metrics, **{k: v.mean() for k, v in loss_metrics.items()}}
        metrics |= {"learning_rate": rate, "noise_floor": noise_floor(config, state.steps)}
        metrics |= {"parameter_norm": norm(state.params)}
        return state, {**metrics, **leagues.league_metrics(config.self_play, state.league)}

    return update


def is_taught(config: TrainConfig, steps: jax.Array) -> jax.Array:
    """[] bool: the learner is taught by the script now."""
    return (steps < config.self_play.teach_share * config.total_steps) & bool(config.self_play.teacher)


def teaching_rate(config: TrainConfig, steps: jax.Array) -> jax.Array:
    """[] the learning rate while it is taught: it falls to `TAUGHT_LAST` of the first one, for an exact fit."""
    done = jnp.clip(steps / max(config.self_play.teach_share * config.total_steps, 1.0), 0.0, 1.0)
    return jnp.asarray(config.learning_rate * TAUGHT_LAST**done, jnp.float32)


def collect_games(
    config: TrainConfig, env: AgentsEnv, opponents: Opponents, state: TrainState
) -> tuple[TrainState, Rollout, jax.Array]:
    """Play T decisions of every game; the rollout is of our robots only. Also return the teacher's actions [T, B, N,
    A].
    """
    key, k_fresh, k_noise = jax.random.split(state.key, 3)
    fresh = jax.vmap(env.reset)(jax.random.split(k_fresh, config.num_envs))
    networks = make_networks(config.network, env.observation, env.action_size)
    floor, count, taught = noise_floor(config, state.steps), env.scenario.count, is_taught(config, state.steps)
    teams = opponents.teams(state.league, as_team(state.params["actor"], state.obs_stats))

    def decide(now: tuple, noise: jax.Array) -> tuple[tuple, tuple]:
        here, carry, memory = now
        game, ours = here.pipeline_state.world, here.obs[:, :count]
        carry, output = networks.act(state.params["actor"], carry, networks.normalize(ours, state.obs_stats))
        dist = distribution(output, config.noise, floor)
        raw = dist.loc + dist.scale * noise
        memory, wanted = lesson(config, env, opponents, (memory, here), taught)
        memory, theirs = opponents.act(memory, teams, jax.vmap(env.views)(game), here.obs)
        after = jax.vmap(env.step)(here, jnp.concatenate([squash(raw, env.action), theirs], 1))
        kept = (ours, critic_input(env, here), raw, log_prob(dist, raw), after.reward[:, :count])
        carry, memory = forget((carry, memory), after.done)  # type: ignore[arg-type]
        ends = (after.done, after.info["truncation"], after.metrics)
        return (jax.vmap(restart)(after, fresh), carry, memory), (*kept, *ends, wanted)

    (last, carry, memory), (obs, seen, *others, wanted) = jax.lax.scan(
        decide,
        (state.env, state.carry, state.league.memory),
        noise_along(config, k_noise, (config.num_envs, count, env.action_size)),
    )
    rollout = Rollout(state.carry, obs, jnp.concatenate([seen, critic_input(env, last)[None]]), *others)
    steps = state.steps + config.unroll * config.num_envs * count
    league = state.league._replace(memory=memory)
    return state._replace(env=last, carry=carry, key=key, steps=steps, league=league), rollout, wanted


def lesson(
    config: TrainConfig, env: AgentsEnv, opponents: Opponents, now: tuple[Memory, State], taught: jax.Array
) -> tuple[Memory, jax.Array]:
    """Return (memory, the teacher's actions in our place [B, N, A]) of games [B]; zeros where no teacher is asked.

    A trained teacher decides on `AgentsEnv.teacher_obs`, which may show more than the learner sees (learning by
    cheating: Chen et al., CoRL 2019).
    """
    memory, games = now
    blank = jnp.zeros((config.num_envs, env.scenario.count, env.action_size))
    if not config.self_play.teacher:
        return memory, blank

    def teach(memory: Memory) -> tuple[Memory, jax.Array]:
        views = jax.vmap(env.views)(games.pipeline_state.world)  # type: ignore[union-attr]
        return opponents.teach(memory, views, jax.vmap(env.teacher_obs)(games))

    return jax.lax.cond(taught, teach, lambda m: (m, blank), memory)


def critic_input(env: AgentsEnv, state: State) -> jax.Array:
    """[B, N, P] the true game from the side of each of our robots."""
    return jax.vmap(env.privileged)(state)[:, : env.scenario.count]


def play_on(config: TrainConfig, state: TrainState, rollout: Rollout, per_update: int) -> League:
    """Results are counted; every `snapshot_every` updates the learner joins the pool, and opponents are drawn."""
    parts = leagues.num_parts(config.self_play)
    won, lost, ended = (
        x.sum(0).reshape(parts, -1).sum(-1)
        for x in (rollout.metrics["success"], rollout.metrics["contact"], rollout.done)
    )
    league = leagues.score(config.self_play, state.league, won, lost, ended)
    updates = jnp.ceil(state.steps / per_update - 0.01)  # some steps of this one may be still to come
    due = updates % config.self_play.snapshot_every == 0
    learner = as_team(state.params["actor"], state.obs_stats)
    key = jax.random.fold_in(state.key, 1)
    return jax.lax.cond(due, leagues.next_round, lambda same, *_: same, league, learner, key)
