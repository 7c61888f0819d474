"""`bench sim`: swap_4 with all randomization on, in agent-steps and drone sub-steps per second."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
from statistics import median

from benchmarks import Row, seconds

BATCHES = (256, 1024, 4096)
REPEATS = 5


def rows() -> list[Row]:
    """`fast` at several batch sizes, bare MuJoCo with two threads, and the closed-loop `mujoco` engine."""
    from robomarl.sim.scenario import load_scenario

    scenario = load_scenario("swap_4")
    bare = bare_mujoco(scenario)
    found = [Row("mujoco.rollout, 2 threads", "drone sub-steps", bare, "1/s")]
    for batch in BATCHES:
        steps = fast(scenario, batch)
        found += [
            Row(f"fast, {batch} environments", "agent-steps", steps, "1/s"),
            Row(f"fast, {batch} environments", "drone sub-steps", steps * scenario.substeps, "1/s"),
            Row(f"fast, {batch} environments", "times mujoco.rollout", steps * scenario.substeps / bare, "x"),
        ]
    return [*found, *soccer(), *closed_loop()]


def soccer() -> list[Row]:
    """soccer_2v2 on `fast` with eyes, radio, referee, observation and reward; both teams' robots are agents."""
    from robomarl.domains.soccer.env import SoccerEnv
    from robomarl.sim.scenario import load_scenario

    env = SoccerEnv(load_scenario("soccer_2v2"))
    return [Row(f"soccer_2v2 fast, {n} games", "agent-steps", throughput(env, n), "1/s") for n in (1024, 4096, 8192)]


def fast(scenario, batch: int) -> float:
    """Agent-steps per second of `TeamEnv` on `fast`: dynamics, radio, noise, observation, reward."""
    from robomarl.sim.env import make_env

    return throughput(make_env(scenario), batch)


def throughput(env, batch: int, length: int = 50) -> float:
    """Agent-steps per second of an environment, all commands 0."""
    import jax
    import jax.numpy as jnp

    state = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), batch))
    action = jnp.zeros((batch, env.num_agents, env.action_size))

    @jax.jit
    def roll(state):
        return jax.lax.scan(lambda s, _: (jax.vmap(env.step)(s, action), s.reward.mean()), state, None, length)[0]

    for _ in range(2):
        jax.block_until_ready(roll(state))
    took = median(seconds(lambda: jax.block_until_ready(roll(state))) for _ in range(REPEATS))
    return batch * env.num_agents * length / took


def bare_mujoco(scenario, batch: int = 64, length: int = 250) -> float:
    """Drone sub-steps per second of `mujoco.rollout` on the same model, hover thrust, two threads."""
    import mujoco
    import numpy as np
    from mujoco import rollout

    from robomarl.domains.flight.engines.mjcf import build_model
    from robomarl.types import GRAVITY_M_S2

    model = build_model(scenario)
    data = [mujoco.MjData(model) for _ in range(2)]
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data[0], start, full)
    place = start[1 : 1 + 7 * scenario.count].reshape(-1, 7)
    place[:, 0], place[:, 2] = np.arange(scenario.count), 1.0
    hover = scenario.vehicle_config.body.mass_kg * GRAVITY_M_S2 / 4
    control = np.full((batch, length, model.nu), hover)
    states = np.tile(start, (batch, 1))
    with rollout.Rollout(nthread=2) as pool:
        pool.rollout(model, data, states, control)
        took = median(seconds(lambda: pool.rollout(model, data, states, control)) for _ in range(REPEATS))
    return batch * length * scenario.count / took


def closed_loop() -> list[Row]:
    """Real-time factor of `eval` on `mujoco`: policy, filter, controller and physics."""
    from robomarl.evaluate.evaluate import EvalConfig, evaluate
    from robomarl.evaluate.resolve import resolve_policy
    from robomarl.sim.scenario import load_scenario

    policy, _ = resolve_policy("swap_4")
    found = []
    for mode in ("off", "qp"):
        config = EvalConfig(episodes=200, filter=mode, progress=False)
        factor = evaluate(policy, load_scenario("swap_4"), config).figures["realtime_factor"]
        found.append(Row(f"mujoco, closed loop, 200 teams, filter {mode}", "simulated over real time", factor, "x"))
    return found
