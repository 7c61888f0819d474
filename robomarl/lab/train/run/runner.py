"""Training runs on the host: progress, logs, checkpoints, resume. The mathematics is in `mappo.py`.

Several seeds train side by side in one program, `jax.vmap` of the update; each has a run folder of its own.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial

import jax
import numpy as np

from robomarl.core.config import UserError, to_dict
from robomarl.lab.on_robots import check_on_robots
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.engines.compiler import keep_compiled
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.train.algorithm import make_update, may_share, per_update, training_env
from robomarl.lab.train.boards import check_boards
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.devices.across import Devices
from robomarl.lab.train.devices.divide import placed
from robomarl.lab.train.devices.memory import check_memory, device_bytes
from robomarl.lab.train.initial.kept import RunPrograms
from robomarl.lab.train.initial.programs import compile_update
from robomarl.lab.train.initial.start import FromNothing, first_state, initial_weights
from robomarl.lab.train.run.best_policy import BestPolicyKeeper
from robomarl.lab.train.run.folders import begun_or_gone, create_runs, hold, reopen
from robomarl.lab.train.run.logs import Logs, ProgressBar
from robomarl.lab.train.run.nan_guard import bad_metrics, stop_at_nan
from robomarl.lab.train.run.options import Rows, RunOptions
from robomarl.lab.train.run.run_folder import Run, recipe_text
from robomarl.lab.train.run.storage import replace_text, save_checkpoint
from robomarl.lab.train.self_play.teachers import trained_teams
from robomarl.lab.train.stages.curriculum import check_curriculum
from robomarl.lab.train.state import TrainState, Update


class NothingLeftError(UserError):
    """The run has all of its agent-steps."""


class Member:
    """One seed of a run: its folder, logs and judge."""

    def __init__(self, run: Run, options: RunOptions, steps: int, worker: Executor) -> None:
        """Open the logs; `worker` has the judge's evaluations."""
        self.folder = run.folder
        self.logs = Logs(run.folder, steps, options.log, to_dict(run.config) if options.log else {})
        self._judge, self._worker = BestPolicyKeeper(run, options.evaluations, options.eval_episodes), worker

    def log(self, row: dict[str, float], state: Callable[[], TrainState]) -> None:
        """One update, judged where that is due."""
        self.logs.write(row, self._judge.submit(self._worker, state, int(row["steps"])))

    def save(self, state: TrainState, keep_before: bool) -> None:
        """Replace the checkpoint, once everything before it is logged."""
        self.logs.flush()
        save_checkpoint(self.folder, state, keep_before)


def train_run(config: TrainConfig, scenario: Scenario, options: RunOptions) -> Rows:
    """Train until the steps or the minutes are spent; the first Ctrl-C ends the update under way and saves.

    Returns:
        The last row of metrics of every seed, with `seconds`, `steps`, `interrupted` and `finished` (1: it has all of
        its agent-steps).

    Raises:
        UserError: a run folder exists (without `resume`), can't be made, another process trains there, or a loss
            became NaN.
        NothingLeftError: it has all of its agent-steps already.
    """
    with ExitStack() as locks:
        if not options.resume:
            return _train(config, scenario, options, locks)
        hold(options, locks)
        return _train(*reopen(options), options, locks)


def _train(config: TrainConfig, scenario: Scenario, options: RunOptions, locks: ExitStack) -> Rows:
    check_boards(options.log)
    keep_compiled(may_share(config, scenario))
    config = longer(config, options.steps)
    env = training_env(config, scenario)
    check_curriculum(config, env)
    check_on_robots(env.observation, scenario.task)
    devices = Devices(options.devices)
    # What is wrong with a recipe, or with what the run is to start from, is said before there is a folder.
    step = make_update(config, env, trained_teams, devices)
    weights = initial_weights(config, env, options)
    if not options.resume:
        create_runs(config, scenario, options)
        locks.enter_context(begun_or_gone(options.folders.values()))
        hold(options, locks)
    place = partial(placed, devices=devices, seeds=options.seeds)
    start = FromNothing(config, env, options)
    programs = None if options.resume else _programs(config, scenario, options, partial(_begun, start, step, place))
    first = place(first_state(config, env, options, weights, programs.start if programs else start))
    check_roles(config, env)
    steps = int(np.max(first.steps))
    more = per_update(config, env)
    check_left(config, options, steps, more)
    update = programs.update if programs else compile_update(step, first, options.seeds)
    worker = ThreadPoolExecutor(1, "judge")
    members = [
        Member(Run(folder, scenario, config, seed, "", {}, first), options, steps, worker)
        for seed, folder in options.folders.items()
    ]
    bar = ProgressBar(steps * len(members), config.last_step * len(members), options)
    with ExitStack() as opened, interrupt_flag() as interrupted:
        for close in (bar.close, *(member.logs.close for member in members)):
            opened.callback(close)
        opened.callback(worker.shutdown, cancel_futures=True)
        rows = _loop(UpdateLoop(config, env, update, options, members, bar, more), first, interrupted)
    if interrupted.is_set():
        print(f"\nStopped; the checkpoint is in {options.out}; --resume goes on from it.")
    ended = {"interrupted": float(interrupted.is_set()), "finished": float(rows[0]["steps"] + more > config.last_step)}
    return [{**row, **ended} for row in rows]


def _programs(
    config: TrainConfig, scenario: Scenario, options: RunOptions, make: Callable[[int], RunPrograms]
) -> RunPrograms:
    """The programs of a run from nothing, from an earlier run of this process if that had equal ones."""
    key = repr((recipe_text(config), scenario, options.seeds, options.devices))
    return options.kept.get(key) or options.kept.keep(key, make(options.seeds))


def _begun(start: FromNothing, step: Update, place: Callable[[TrainState], TrainState], seeds: int) -> RunPrograms:
    return RunPrograms(start, compile_update(step, place(start.traced.out_info), seeds))


def check_left(config: TrainConfig, options: RunOptions, steps: int, more: int) -> None:
    """Write the recipe of a run that goes on to more steps.

    Raises:
        NothingLeftError: it has all of its agent-steps.
    """
    if steps + more > config.last_step and steps:
        raise NothingLeftError(f"{options.out}: the run has all of its {config.last_step} agent-steps; add --steps.")
    if options.resume and options.steps:
        for folder in options.folders.values():
            replace_text(folder / "config.json", recipe_text(config))


def longer(config: TrainConfig, steps: int | None) -> TrainConfig:
    """The recipe with this many agent-steps instead of its own."""
    return replace(config, total_steps=steps, stop_after=None) if steps else config


def check_roles(config: TrainConfig, env: AgentsEnv) -> None:
    """Raises `UserError` where a robot has a role that there are no parameters for."""
    if config.network.roles == 1:
        return
    world = jax.jit(env.reset)(jax.random.key(0)).pipeline_state.world  # type: ignore[union-attr]
    most = int(np.max(env.views(world).role)) + 1
    if config.network.roles < most:
        raise UserError(f"network.roles = {config.network.roles}, but {env.scenario.name} has {most}; make it {most}.")


@dataclass(frozen=True)
class UpdateLoop:
    """Inputs of the loop over the updates."""

    config: TrainConfig
    env: AgentsEnv
    update: Callable[[], Update]
    """Waits for the compiler."""
    options: RunOptions
    members: list[Member]
    bar: ProgressBar
    per_update: int
    """Agent-steps."""


def _loop(loop: UpdateLoop, first: TrainState, interrupted: threading.Event) -> Rows:
    """One update after another, until the budget is spent; every state that leaves here is saved."""
    state, rows = first, [{} for _ in loop.members]
    for state, rows in updates(loop, first):
        for member, one, row in zip(loop.members, each(state, len(rows)), rows, strict=True):
            member.log(row, one)
        loop.bar.show(rows)
        if loop.options.on_update is not None:
            loop.options.on_update(state, rows)
        if loop.bar.is_time_to_save(loop.options.save_every_s) or interrupted.is_set():
            save_all(loop, state)
        if interrupted.is_set():
            return rows
    save_all(loop, state)
    return rows


def save_all(loop: UpdateLoop, state: TrainState) -> None:
    """Replace the checkpoint of every seed."""
    with loop.options.waits("the evaluation of the policy on mujoco, and the checkpoint"):
        for member, one in zip(loop.members, each(state, len(loop.members)), strict=True):
            member.save(one(), keep_before=len(loop.members) > 1)


def updates(loop: UpdateLoop, state: TrainState) -> Iterator[tuple[TrainState, Rows]]:
    """The states and metric rows of one update after another, until the budget is spent. The first state is saved."""
    config, options, num = loop.config, loop.options, len(loop.members)
    count, steps = loop.members[0].logs.last_update, int(np.max(state.steps))
    before, started = loop.members[0].logs.last_seconds, time.monotonic()
    with options.waits("the compiler"):
        update = loop.update()  # its seconds count, as those of a run that is resumed do
    check_memory(update, num, device_bytes())
    save_all(loop, state)
    while steps + loop.per_update <= config.last_step or count == 0:
        last, (state, metrics) = state, update(state)
        values = {name: np.atleast_1d(value) for name, value in jax.device_get(metrics).items()}
        count, steps = count + 1, steps + loop.per_update
        place = {"update": count, "steps": steps, "seconds": before + time.monotonic() - started}
        rows = [{**place, **{name: float(value[i]) for name, value in values.items()}} for i in range(num)]
        guard(loop, last, rows)
        yield state, rows
        if time.monotonic() - started > options.minutes * 60:
            return


def guard(loop: UpdateLoop, last: TrainState, rows: Rows) -> None:
    """Stop at the first metric that is not finite; the checkpoint is the state before.

    Raises:
        UserError: names the metric and the term.
    """
    for i, (member, row) in enumerate(zip(loop.members, rows, strict=True)):
        if bad_metrics(row):
            save_all(loop, last)
            stop_at_nan(loop.config, loop.env, each(last, len(rows))[i](), row, member.folder)


def each(state: TrainState, count: int) -> list[Callable[[], TrainState]]:
    """Functions that pick the state of one seed."""
    if count == 1:
        return [lambda: state]
    return [partial(jax.tree.map, lambda x, i=i: x[i], state) for i in range(count)]


@contextmanager
def interrupt_flag() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets, so that the update under way ends whole; the second one kills."""
    flag, before = threading.Event(), signal.getsignal(signal.SIGINT)

    def on_interrupt(number: int, frame: object) -> None:
        flag.set()
        signal.signal(signal.SIGINT, before)

    in_main = threading.current_thread() is threading.main_thread()
    if in_main:
        signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield flag
    finally:
        if in_main:
            signal.signal(signal.SIGINT, before)
