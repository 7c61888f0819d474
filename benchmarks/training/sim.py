"""`bench sim`: teams with all randomization on, in agent-steps and drone sub-steps per second."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median

from benchmarks import Row, seconds

BATCHES = (256, 1024, 4096)
REPEATS, THREADS = 5, 2


def rows(cases: tuple[str, ...] = ("swap_4", "lift_3", "soccer", "volleyball", "mujoco")) -> list[Row]:
    """The cases one after the other."""
    from robomarl.lab.sim.engines.compiler import share_results

    share_results()
    return [row for case in cases for row in CASES[case]()]


def beside_mujoco(name: str) -> list[Row]:
    """`fast` with controller, noise, observation and reward, beside `mujoco.rollout` of the same model; in turn."""
    from robomarl.lab.sim.env import make_env
    from robomarl.lab.sim.scenario import load_scenario

    scenario, env, found = load_scenario(name), make_env(load_scenario(name)), []
    for batch in BATCHES:
        steps, bare = in_turn((fast_steps(env, batch), bare_mujoco(scenario)))
        case, times = f"{name} fast, {batch} teams", steps * scenario.substeps / bare
        found += [
            Row(case, "agent-steps", steps, "1/s"),
            Row(case, "drone sub-steps", steps * scenario.substeps, "1/s"),
            Row(case, "the same of mujoco.rollout, 2 threads", bare, "1/s"),
            Row(case, "times mujoco.rollout", times, "x"),
        ]
    return found


def in_turn(calls: Sequence[tuple[Callable[[], object], int]]) -> list[float]:
    """What each of several does a second, median of rounds in which they take turns: (call, how much one does)."""
    for call, _ in calls:
        call()
    took = [[seconds(call) for call, _ in calls] for _ in range(REPEATS)]
    return [size / median(column) for (_, size), column in zip(calls, zip(*took, strict=True), strict=True)]


def soccer() -> list[Row]:
    """soccer_2v2 on `fast` with eyes, radio, referee, observation and reward; both teams' robots are agents."""
    from robomarl.domains.soccer.lab.env import SoccerEnv
    from robomarl.lab.sim.scenario import load_scenario

    env = SoccerEnv(load_scenario("soccer_2v2"))
    rates = {n: in_turn([fast_steps(env, n)])[0] for n in (1024, 4096, 8192)}
    return [Row(f"soccer_2v2 fast, {n} games", "agent-steps", rate, "1/s") for n, rate in rates.items()]


def volleyball() -> list[Row]:
    """Drones that play volleyball on `fast`, with exact impacts, referee, observation and reward."""
    from robomarl.lab.sim.env import make_env
    from robomarl.lab.sim.scenario import load_scenario

    found = []
    for name in ("volley_bump", "volley_bump_pass", "volley_3v3"):
        scenario = load_scenario(name)
        steps = in_turn([fast_steps(make_env(scenario), 4096)])[0]
        case = f"{name} fast, 4096 teams"
        found += [Row(case, "agent-steps", steps, "1/s")]
        found += [Row(case, "drone sub-steps", steps * scenario.substeps, "1/s")]
    return found


def fast_steps(env, batch: int, length: int = 50) -> tuple[Callable[[], object], int]:
    """Some decisions of all robots of an environment, all commands 0, and how many agent-steps they are.

    Half of the teams on each of two threads, as `mujoco.rollout` has them: a program of small loops keeps one busy.
    """
    import jax
    import jax.numpy as jnp

    from robomarl.lab.sim.engines.batch_last import to_last, vmap_last

    part = batch // THREADS
    reset = jax.jit(lambda keys: to_last(jax.vmap(env.reset)(keys)))
    starts = [reset(keys) for keys in jnp.split(jax.random.split(jax.random.key(0), batch), THREADS)]
    action, pool = jnp.zeros((env.num_agents, env.action_size, part)), ThreadPoolExecutor(THREADS)
    step = vmap_last(env.step)

    @jax.jit
    def roll(state):
        return jax.lax.scan(lambda s, _: (step(s, action), s.reward.mean()), state, None, length)[0]

    jax.block_until_ready(roll(starts[0]))
    return lambda: [
        *pool.map(lambda state: jax.block_until_ready(roll(state)), starts)
    ], batch * env.num_agents * length


def bare_mujoco(scenario, batch: int = 64, length: int = 250) -> tuple[Callable[[], object], int]:
    """Some sub-steps of `mujoco.rollout` on the same model, hover thrust, two threads, and how many of drones."""
    import mujoco
    import numpy as np
    from mujoco import rollout

    from robomarl.core.types import GRAVITY_M_S2
    from robomarl.domains.flight.lab.engines.mjcf import build_model

    model = build_model(scenario)
    data = [mujoco.MjData(model) for _ in range(THREADS)]
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data[0], start, full)
    if not scenario.load:  # a load and its carriers start where the cables are just taut
        place = start[1 : 1 + 7 * scenario.count].reshape(-1, 7)
        place[:, 0], place[:, 2] = np.arange(scenario.count), 1.0
    hover = model.body_mass.sum() * GRAVITY_M_S2 / model.nu
    control = np.full((batch, length, model.nu), hover)
    states, pool = np.tile(start, (batch, 1)), rollout.Rollout(nthread=THREADS)
    return lambda: pool.rollout(model, data, states, control), batch * length * scenario.count


def closed_loop() -> list[Row]:
    """Real-time factor of `eval` on `mujoco`: policy, filter, controller and physics."""
    from robomarl.lab.evaluate.evaluate import evaluate
    from robomarl.lab.evaluate.evaluation import EvalConfig
    from robomarl.lab.evaluate.resolve import resolve_policy
    from robomarl.lab.sim.scenario import load_scenario

    policy, _ = resolve_policy("swap_4")
    found = []
    for mode in ("off", "qp"):
        config = EvalConfig(episodes=200, filter=mode, progress=False)
        factor = evaluate(policy, load_scenario("swap_4"), config).figures["realtime_factor"]
        found.append(Row(f"mujoco, closed loop, 200 teams, filter {mode}", "simulated over real time", factor, "x"))
    return found


CASES: dict[str, Callable[[], list[Row]]] = {
    "swap_4": partial(beside_mujoco, "swap_4"),
    "lift_3": partial(beside_mujoco, "lift_3"),
    "soccer": soccer,
    "volleyball": volleyball,
    "mujoco": closed_loop,
}
"""Cases by the name that `--case` takes."""
