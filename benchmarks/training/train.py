"""`bench train`: every figure of the trainer, each a case that runs by itself (`robomarl bench train --case NAME`)."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import Row, seconds
from benchmarks.training.kills import metrics, train, train_with_kills, write_recipe

SEEDS = (0, 1, 2, 3, 4)
ROUNDS, UPDATES, WARM_UP = 7, 8, 2
"""Rounds in which the two trainers take turns, updates of each in a round, first rounds that do not count."""
KILLS, KILL_ROWS = 10, 400
STARTS = 3


def time_to_success(seeds: tuple[int, ...] = SEEDS) -> list[Row]:
    """Seconds from the process's start to a policy with 95 % success on `mujoco`, filter on, nothing in the cache."""
    from benchmarks.training.judging import robomarl_policy
    from benchmarks.training.learners import robomarl

    return _success_rows("swap_4", robomarl, robomarl_policy(), seeds)


def brax_time_to_success() -> list[Row]:
    """The same for Brax's own PPO at the best settings that were found for it."""
    from benchmarks.training.judging import brax_policy
    from benchmarks.training.learners import brax

    return _success_rows("swap_4, Brax's PPO", brax, brax_policy(), SEEDS)


def _success_rows(case: str, learner: Any, policy: Any, seeds: tuple[int, ...]) -> list[Row]:
    from benchmarks.training.judging import first_success
    from benchmarks.training.learners import learn

    rows, times = [], []
    for seed in seeds:
        snapshots = learn(learner, seed)
        first = first_success(snapshots, policy)
        times.append(float("inf") if first is None else first.seconds)
        steps = float("inf") if first is None else float(first.steps)
        rows += [
            Row(f"{case}, seed {seed}", "to 95 % in mujoco, filter on", times[-1], "s"),
            Row(f"{case}, seed {seed}", "agent-steps until then", steps, ""),
            Row(f"{case}, seed {seed}", "of it, to the first update", snapshots[0].seconds, "s"),
            Row(f"{case}, seed {seed}", "whole run", snapshots[-1].seconds, "s"),
        ]
    return [*rows, Row(case, f"to 95 %, median of {len(seeds)} seeds", median(times), "s")]


def throughput() -> list[Row]:
    """Agent-steps/s, learning included, beside Brax's PPO: same environment, networks and batch, in turn."""
    from benchmarks.training.learners import run_brax
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.algorithm import training_env
    from robomarl.lab.train.config import load_recipe

    config = load_recipe("swap_4")[0]
    env = training_env(config, load_scenario("swap_4"))
    ours, theirs, last = our_updates(config, env), [], [time.perf_counter()]

    def take_turns(*_: Any) -> None:
        theirs.append(time.perf_counter() - last[0])
        ours.append_time()
        last[0] = time.perf_counter()

    per_update = config.num_envs * config.unroll * env.num_agents
    settings = {
        "num_envs": config.num_envs, "unroll_length": config.unroll, "num_minibatches": config.minibatches,
        "batch_size": config.num_envs // config.minibatches, "num_updates_per_batch": config.epochs,
        "learning_rate": config.learning_rate, "discounting": config.gamma_lambda(env.scenario.period_s)[0],
        "max_grad_norm": config.max_grad_norm,
    }  # fmt: skip
    run_brax(settings, ROUNDS * UPDATES * per_update, take_turns, num_evals=ROUNDS + 1)
    rates = [UPDATES * per_update / median(times[WARM_UP:]) for times in (ours.times, theirs)]
    return [
        Row("swap_4, learning included", "agent-steps, robomarl", rates[0], "1/s"),
        Row("swap_4, learning included", "agent-steps, Brax's PPO", rates[1], "1/s"),
        Row("swap_4, learning included", "robomarl over Brax's PPO", rates[0] / rates[1], "x"),
    ]


class OurUpdates:
    """Some updates at a time, timed."""

    def __init__(self, update: Callable[[Any], tuple], state: Any) -> None:
        """`update` is compiled at the first round."""
        self._update, self._state = update, state
        self.times: list[float] = []

    def append_time(self) -> None:
        """Time `UPDATES` updates, metrics brought to Python as in a run."""
        self.times.append(seconds(self._round))

    def _round(self) -> None:
        import jax

        for _ in range(UPDATES):
            self._state, found = self._update(self._state)
            jax.device_get(found)


def our_updates(config: Any, env: Any) -> OurUpdates:
    """The trainer as a run has it."""
    import jax

    from robomarl.lab.train.mappo import init_state, make_update

    state = jax.jit(lambda key: init_state(config, env, key))(jax.random.key(0))
    return OurUpdates(jax.jit(make_update(config, env)), state)


def share() -> list[Row]:
    """Where the time of an update goes, as `train --profile` prints it."""
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.algorithm import training_env
    from robomarl.lab.train.config import load_recipe
    from robomarl.lab.train.run.profile import profile

    config = load_recipe("swap_4")[0]
    parts = profile(config, training_env(config, load_scenario("swap_4")))
    whole = parts["whole"] + parts["host"]
    names = ("simulation", "observation", "policy", "update", "host")
    return [Row("swap_4, one update", f"{name}, share of the time", 100 * parts[name] / whole, "%") for name in names]


def seeds_at_once() -> list[Row]:
    """Five seeds side by side against five in a row: 16 teams, networks of 16-16, updates in turn."""
    import jax
    import jax.numpy as jnp

    from robomarl.lab.sim.env import make_env
    from robomarl.lab.sim.scenario import load_scenario
    from robomarl.lab.train.config import NetworkConfig, TrainConfig
    from robomarl.lab.train.mappo import init_state, make_update

    config = TrainConfig(num_envs=16, minibatches=2, network=NetworkConfig((16, 16), (16, 16)))
    env = make_env(load_scenario("swap_4"))
    start, step = (lambda key: init_state(config, env, key)), make_update(config, env)
    keys = [jax.random.key(seed) for seed in range(5)]
    states, together = [jax.jit(start)(key) for key in keys], jax.jit(jax.vmap(start))(jnp.stack(keys))
    single, many = jax.jit(step), jax.jit(jax.vmap(step))
    in_a_row = lambda: [jax.device_get(single(state)[1]) for state in states]  # noqa: E731
    at_once = lambda: jax.device_get(many(together)[1])  # noqa: E731
    times = [(seconds(in_a_row), seconds(at_once)) for _ in range(ROUNDS + WARM_UP)][WARM_UP:]
    row, once = (median(column) for column in zip(*times, strict=True))
    case = "five seeds, small networks, an update each"
    return [
        Row(case, "in a row", row, "s"),
        Row(case, "at once", once, "s"),
        Row(case, "at once over in a row", once / row, "x"),
    ]


def resume() -> list[Row]:
    """Kill -9 at random times, resume, and compare all metrics with those of a run that was left alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recipe = write_recipe(folder / "tiny.toml", KILL_ROWS)
        fell = train_with_kills(recipe, folder / "killed", KILL_ROWS, KILLS, seed=0)
        train(recipe, folder / "whole").wait()
        killed, whole = metrics(folder / "killed"), metrics(folder / "whole")
    differing = sum(a != b for a, b in zip(killed, whole, strict=True))
    return [
        Row("resume after kill -9", "kills", float(len(fell)), ""),
        Row("resume after kill -9", "rows of metrics", float(len(whole)), ""),
        Row("resume after kill -9", "rows that differ in any bit", float(differing), ""),
    ]


def start() -> list[Row]:
    """`robomarl train swap_4` from the shell to the end of the first update, compilation cache warm."""
    times = [shell_to_first_update() for _ in range(STARTS + 1)][1:]
    return [Row("robomarl train swap_4", "from exec to first update, warm cache", median(times), "s")]


def shell_to_first_update() -> float:
    """Seconds from exec to the first row of metrics of a real run."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [sys.executable, "-m", "robomarl", "train", "swap_4", "--quiet", "--out", str(out)]
        started = time.perf_counter()
        process = subprocess.Popen(command)
        while not metrics(out) and process.poll() is None:
            time.sleep(0.01)
        took = time.perf_counter() - started
        process.kill()
        process.wait()
    return took


CASES: dict[str, Callable[[], list[Row]]] = {
    "start": start,
    "share": share,
    "seeds": seeds_at_once,
    "throughput": throughput,
    "resume": resume,
    "success": time_to_success,
    "brax": brax_time_to_success,
}
"""Cases by the name that `--case` takes."""


def rows(cases: tuple[str, ...] = tuple(CASES)) -> list[Row]:
    """The cases one after the other."""
    return [row for case in cases for row in CASES[case]()]
