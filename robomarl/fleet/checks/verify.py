"""Everything that can be said about a bundle on this machine: is it whole, does it act as trained, how fast is it."""

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from robomarl.core.bundle import golden
from robomarl.core.bundle.bundle import FILTERED_FILE, Bundle, load_bundle
from robomarl.core.bundle.filtered import check_filtered
from robomarl.core.bundle.perception import check_images, open_perception
from robomarl.core.bundle.pilot import pilot_of
from robomarl.core.bundle.runtime import Policy, open_policy, read_golden
from robomarl.core.config import UserError
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import LocalView
from robomarl.fleet.checks.verdict import Verdict

DECISIONS = 200
"""How many are timed ..."""
SECONDS = 0.1
"""... at most for this long, so that verify stays quick on slow machines."""
START_STEPS = 10
"""Decisions of each golden sequence that are made at a start."""
WARM_UP = 5
"""Decisions that are not counted."""


def verify_here(name_or_dir: str | Path, timed: bool = True, filtered: bool = True) -> Verdict:
    """See `isolated_check.verify_bundle`; in this process, which a hostile bundle can hold or end."""
    try:
        bundle = load_bundle(name_or_dir)
        policy, sequences = open_policy(bundle, check_golden=False), read_golden(bundle)
        checks = replay(bundle, policy, sequences, filtered)
    except UserError as error:
        where, said = str(name_or_dir), str(error)
        return Verdict("", False, (said if where in said else f"{where}: {said}",))
    parity = max(d.difference for d in checks if not d.stage.endswith(("command", "strip", "sight")))
    problems = (*(f"{bundle.folder}: {d}." for d in checks if not d.ok), *stray_sidecars(bundle))
    if problems or not timed:
        return Verdict(bundle.id, not problems, problems, parity)
    return Verdict(bundle.id, True, (), parity, *latency(policy, sequences))


def start_here(name_or_dir: str | Path) -> Verdict:
    """See `isolated_check.start_bundle`; in this process. The filter is tried on the first decisions of sequences."""
    try:
        bundle = load_bundle(name_or_dir)
        policy, sequences = open_policy(bundle, check_golden=False), read_golden(bundle)
        open_perception(bundle)
        command = golden.check_filter(bundle.contract, sequences, START_STEPS)
        off = [deviation for deviation in (*golden.check_policy(policy, sequences), command) if not deviation.ok]
    except UserError as error:
        return Verdict("", False, (str(error),))
    step = _stepper(policy, sequences)
    commands = np.array([step(i).command for i in range(min(START_STEPS, sequences.obs.shape[1]))])
    wrong = [f"{bundle.folder}: {deviation}." for deviation in off]
    wrong += [] if np.isfinite(commands).all() else [f"{bundle.folder}: decides on a command that is no number."]
    return Verdict(bundle.id, not wrong, tuple(wrong))


def replay(bundle: Bundle, policy: Policy, sequences: golden.Golden, filtered: bool) -> list[golden.Deviation]:
    """Worst element of every stage: observation, action, command, of a bundle that sees strip and sight; if asked,
    of the filtered graph where there is one.

    Raises:
        UserError: the sequences do not fit the bundle.
    """
    found = [*golden.check_policy(policy, sequences), golden.check_filter(bundle.contract, sequences)]
    if perception := open_perception(bundle, check_golden=False):
        found += check_images(perception, bundle.files)
    return found + (check_filtered(bundle, sequences) if filtered and FILTERED_FILE in bundle.files else [])


def stray_sidecars(bundle: Bundle) -> list[str]:
    """Sidecars that name another bundle, one sentence each."""
    problems: list[str] = []
    for name, content in bundle.sidecars.items():
        try:
            named = json.loads(content)["id"]
        except (ValueError, KeyError, TypeError, RecursionError):
            named = None
        if named != bundle.id:
            problems.append(f"{bundle.folder}: {name} does not name this bundle's id; remove it or make it anew.")
    return problems


def latency(policy: Policy, sequences: golden.Golden) -> tuple[float, float, float, float]:
    """Microseconds of one robot: a decision of its policy p50, p99, then view to command p50, p99.

    Of a policy that decides on sequences most commands are of actions that are played, so that p50 is theirs.
    """
    decide, step = _decider(policy, sequences), _stepper(policy, sequences)
    return (*_percentiles(decide, DECISIONS), *_percentiles(step, DECISIONS))


def _decider(policy: Policy, sequences: golden.Golden) -> Callable[[int], object]:
    """Asks the network for the i-th time: from a memory without actions, which would be played without asking it."""
    carry, steps = policy.init(), sequences.obs.shape[1]
    return lambda i: policy(carry, sequences.obs[0, i % steps, 0])


def _stepper(policy: Policy, sequences: golden.Golden) -> Callable[[int], FilterResult]:
    """Makes the i-th decision of one robot, view to filtered command, on the views of the first sequence."""
    pilot = pilot_of(policy, policy.contract.safety)
    steps = int(sequences.obs.shape[1])
    views: list[LocalView] = [golden.map_view(partial(_first_robot, t), sequences.views) for t in range(steps)]
    state = pilot.init(views[0])

    def step(i: int) -> FilterResult:
        nonlocal state
        state, result = pilot.step(state, views[i % steps])
        return result

    return step


def _first_robot(t: int, leaf: Array) -> Array:
    """Values of the first robot at decision t of the first sequence; `leaf` is [S, T, N, ...]."""
    return leaf[0, t, 0]


def _percentiles(call: Callable[[int], object], count: int) -> tuple[float, float]:
    """p50 and p99 of a call [us], after some calls of warm-up."""
    times: list[int] = []
    end = time.perf_counter() + SECONDS
    for i in range(count):
        start = time.perf_counter_ns()
        call(i)
        times.append(time.perf_counter_ns() - start)
        if i >= 2 * WARM_UP and time.perf_counter() > end:
            break
    p50, p99 = np.percentile(times[WARM_UP:], [50, 99]) / 1e3
    return float(p50), float(p99)
