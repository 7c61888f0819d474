"""Flights of teams that train behind the certificate, for `test_certified_training`, each in a process of its own."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from brax.envs.base import State

from robomarl.core.certificate.memory import at_reference
from robomarl.lab.certified import CertifiedTeam, certified_team
from robomarl.lab.jax_filter.filter import jax_library
from robomarl.lab.sim.engines.compiler import compiled_once
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of

SCENARIO = dataclasses.replace(load_scenario("swap_4"), count=2)


def decides_in_jax_as_in_numpy() -> None:
    """Two robots fly at each other for 1.6 s, moved by the commands of numpy; messages are late and lost."""
    params = safety_params(SCENARIO)
    by_numpy, by_jax = (certified_team(SCENARIO, params, library) for library in (None, jax_library(planar=False)))
    assert isinstance(by_numpy, CertifiedTeam) and isinstance(by_jax, CertifiedTeam)
    team, batch = simulation_of(SCENARIO).batch(SCENARIO, "fast", 3, 0), (3, 2)
    team.reset()
    carry, mirrored = by_numpy.init(batch), by_jax.init(batch)
    given = jax.tree.map(jnp.asarray, team.views()), jnp.zeros((*batch, 4))
    step = compiled_once(jax.jit(by_jax).lower(mirrored, *given))
    moved = 0.0
    for _ in range(80):
        views = team.views()
        wish = np.zeros((*batch, 4), np.float32)
        wish[..., :3] = 2.0 * np.nan_to_num(views.heard.pos_m[..., 0, :] - views.own.pos_m)
        seen, twin = by_numpy.seen(carry, views).own, by_jax.seen(mirrored, views).own
        np.testing.assert_allclose(twin.pos_m, seen.pos_m, atol=1e-4)
        carry, result = by_numpy(carry, views, wish)
        mirrored, found = step(mirrored, jax.tree.map(jnp.asarray, views), jnp.asarray(wish))
        np.testing.assert_allclose(found.command, result.command, atol=5e-3)
        moved = max(moved, float(np.abs(seen.vel_m_s).max()))
        team.step(result.command, carry.plan)
    assert moved > 0.3, "the robots were on their way"


def episode_of(state: State) -> Any:
    """What an environment keeps of an episode."""
    return state.pipeline_state


def robots_that_fly_at_each_other_keep_away() -> None:
    """Behind the certificate they keep the distance of references, less the tubes; without it they come nearer.
    Policies see references.
    """
    least, first = {}, {}
    for safety in ("certificate", "off"):
        env = make_env(SCENARIO, safety=safety)
        state = env.reset(jax.random.key(0))
        step = compiled_once(jax.jit(env.step).lower(state, jnp.zeros((2, 4))))
        apart = []
        for _ in range(150):
            before = episode_of(state)
            place = np.stack(before.world.body.pos, -1)
            way = place[::-1] - place
            apart.append(float(np.linalg.norm(way[0])))
            state = step(state, jnp.asarray(np.pad(np.clip(3 * way, -2, 2), ((0, 0), (0, 1))), jnp.float32))
        least[safety], first[safety] = min(apart), apart[0]
        if safety == "certificate":
            now = episode_of(state)
            robots, views = now.safety.safety.robots, env.views(now.world)
            shown = at_reference(robots, views)
            _, expected = env.observation.observe(before.memory, shown)
            np.testing.assert_allclose(np.asarray(state.obs), expected, atol=1e-4)
            assert not np.allclose(shown.own.pos_m, views.own.pos_m, atol=1e-3)
    assert least["certificate"] > 0.42 > 0.35 > least["off"]
    assert least["certificate"] < first["certificate"] - 0.2, "they went towards each other"
