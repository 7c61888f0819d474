"""The programs of a run, which are compiled while its first state is made."""

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor

import jax

from robomarl.lab.sim.engines.compiler import compiled_once
from robomarl.lab.train.state import PlayAndLearn, TrainState, Update


def compile_update(step: Update, state: TrainState, seeds: int) -> Callable[[], Update]:
    """Begin to compile the update of all seeds; call the result to wait for the compiler.

    Nothing is donated: the guard needs the state before.

    Args:
        step: update of one seed.
        state: state with the shapes and types of the run's, with a leading axis if there are several
            seeds.
        seeds: number of seeds.
    """

    def program(part: Callable) -> jax.stages.Wrapped:
        return jax.jit(part if seeds == 1 else jax.vmap(part))

    worker = ThreadPoolExecutor(3, "compiler")
    if isinstance(step, PlayAndLearn):
        parts = PlayAndLearn(*map(program, vars(step).values()))
        play = parts.play.lower(state, state.env)  # before the first state is traced: it takes longest to compile
        compiled = worker.submit(_side_by_side, worker, parts, state, play)
    else:
        compiled = worker.submit(lambda: program(step).lower(state).compile())
        worker.shutdown(wait=False)
    return compiled.result


def _side_by_side(worker: Executor, parts: PlayAndLearn, state: TrainState, play: jax.stages.Lowered) -> Update:
    """Each part compiled while the next one is traced.

    Starts are compiled in haste: of `swap_4` they take 2 ms of an update's 60 then in place of 0.6, and their compiler
    0.3 CPU seconds in place of 2.6 (docs/log/learners.md).
    """
    played = worker.submit(play.compile)
    started = worker.submit(compiled_once, parts.starts.lower(state))
    worker.shutdown(wait=False)
    learned = parts.learn.lower(*play.out_info).compile()
    return PlayAndLearn(started.result(), played.result(), learned)
