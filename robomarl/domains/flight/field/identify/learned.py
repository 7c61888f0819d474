"""Training of a residual: an ensemble of small networks, fitted to the remaining errors of the
identified vehicles' windows.

A push without a torque does not change a vehicle's attitude, so its effect on velocities and
positions in a window is linear: only the drag shapes their response to each decision's push.
Errors and responses are whitened as in identification (`robomarl.field.identify.noise`). This
makes least squares maximum likelihood although the policy reacts to gusts; otherwise a network
would learn the wind direction from the policy's reaction. Each member draws its windows with
replacement. It keeps the weights that best predict the windows of held-out flights, open-loop.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from robomarl.core.config import to_dict
from robomarl.domains.flight.field.identify.model import NAMES
from robomarl.domains.flight.field.identify.open_loop import OpenLoop, ShortWindows, short_windows_of
from robomarl.domains.flight.lab.residual import (
    CODE,
    MEMBERS,
    OWN,
    WIDTH,
    Layer,
    Residual,
    accel_of,
    own_features,
    save_residual,
)
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.identify.flight_sets import Candidate, FlightSets
from robomarl.field.identify.noise import Whitener
from robomarl.field.identify.robot_fit import RobotFit
from robomarl.field.identify.windows import SETTLE, neighbours_of
from robomarl.field.track import RobotTrack

LEARNING_RATE = 3e-3
WEIGHT_DECAY = 1e-4
BATCH = 16
"""Windows of a gradient step."""
STEPS = 40
"""Gradient steps between two evaluations on the held-out flights."""
LOOKS = 20
PATIENCE = 5
"""Looks without a better one after which a fit ends."""


class Left(NamedTuple):
    """Remaining errors of W windows, n decisions each."""

    own: np.ndarray
    """[W, n, OWN]."""
    offset_m: np.ndarray
    """[W, n, M, 3]."""
    errors: np.ndarray
    """[W, 2 n, 3] whitened, of positions and then velocities along each axis."""
    answer: np.ndarray
    """[R, 2 n, n] for each robot: change of the errors by a push in each decision."""
    robot: np.ndarray
    """[W] int."""


def learned(scenario: FlightScenario, found: Sequence[RobotFit], sets: FlightSets, seed: int) -> Candidate | None:
    """An ensemble and its errors; None where flights have no whole window. See `robomarl.field.identify.residual`."""
    stop, gate = (short_windows_of(found, tracks, scenario.period_s) for tracks in (sets.stop, sets.gate))
    if stop is None or gate is None:
        return None
    loop = OpenLoop(scenario)
    return candidate_of(loop, learn(loop, found, sets.fit, stop, seed), gate)


def candidate_of(loop: OpenLoop, residual: Residual, gate: ShortWindows) -> Candidate:
    """A residual, and how it predicts these flights."""
    nothing = jax.tree.map(np.zeros_like, residual)
    before, after = (loop.mean_errors_m(one, gate) for one in (nothing, residual))
    return Candidate(before, after, gate.place, lambda file: to_dict(save_residual(residual, file)))


def learn(
    loop: OpenLoop, found: Sequence[RobotFit], fit: Sequence[RobotTrack], stop: ShortWindows, seed: int
) -> Residual:
    """Fit the ensemble.

    Args:
        loop: the team's model.
        found: fits of the robots; only their windows from the tracks to fit are used here.
        fit: tracks of the team.
        stop: windows of held-out flights.
        seed: seed of first weights, draws and batches; equal seeds give equal weights.

    Returns:
        Weights [MEMBERS, ...]; a member that never predicted better than no residual has a push of 0.
    """
    left = left_over(loop.scenario, found, fit)
    rng, key = np.random.default_rng(seed), jax.random.key(seed)
    now = first_weights(rng)
    state = (now, jax.vmap(_adam().init)(now))
    rows = rng.integers(0, len(left.robot), (MEMBERS, len(left.robot)))
    best = jax.tree.map(np.zeros_like, now)
    least, since = loop.errors_m(best, stop).mean(-1), 0
    run = jax.jit(jax.vmap(partial(_steps, jax.tree.map(jnp.asarray, left))))
    for look in range(LOOKS):
        state = run(state, jnp.asarray(rows), jax.random.split(jax.random.fold_in(key, look), MEMBERS))
        errors = loop.errors_m(state[0], stop).mean(-1)
        better = errors < least
        best = jax.tree.map(lambda new, old, b=better: np.where(_like(b, new), new, old), state[0], best)
        least, since = np.minimum(errors, least), 0 if better.any() else since + 1
        if since == PATIENCE:
            break
    return best


def _like(member: np.ndarray, weights: jax.Array) -> np.ndarray:
    return member.reshape(-1, *[1] * (weights.ndim - 1))


def first_weights(rng: np.random.Generator) -> Residual:
    """Return weights [MEMBERS, ...] with a push of 0: kernels are normal with a variance-preserving width, the last
    one is 0.
    """
    encode, decide = ((3, WIDTH), (WIDTH, CODE)), ((OWN + CODE, WIDTH), (WIDTH, WIDTH), (WIDTH, 3))
    *first, last = (_layer(rng, *sizes) for sizes in decide)
    return Residual(tuple(_layer(rng, *sizes) for sizes in encode), (*first, (0 * last[0], last[1])))


def _layer(rng: np.random.Generator, inputs: int, outputs: int) -> Layer:
    kernel = rng.normal(0, inputs**-0.5, (MEMBERS, inputs, outputs))
    return kernel.astype(np.float32), np.zeros((MEMBERS, outputs), np.float32)


def _adam() -> optax.GradientTransformation:
    return optax.adamw(LEARNING_RATE, weight_decay=WEIGHT_DECAY)


def _steps(
    left: Left, state: tuple[Residual, optax.OptState], rows: jax.Array, key: jax.Array
) -> tuple[Residual, optax.OptState]:
    """`STEPS` gradient steps of one member, on batches of its rows."""

    def step(state: tuple[Residual, optax.OptState], key: jax.Array) -> tuple[tuple[Residual, optax.OptState], None]:
        member, moments = state
        batch = jax.random.choice(key, rows, (min(BATCH, len(rows)),), replace=False)
        slope = jax.grad(unexplained)(member, left, batch)
        updates, moments = _adam().update(slope, moments, member)
        return (optax.apply_updates(member, updates), moments), None  # type: ignore[return-value]

    return jax.lax.scan(step, state, jax.random.split(key, STEPS))[0]


def unexplained(member: Residual, left: Left, batch: jax.Array) -> jax.Array:
    """Mean square of the whitened errors that remain with a member; 1 is noise alone."""
    push = accel_of(member, left.own[batch], left.offset_m[batch])
    return ((left.errors[batch] + left.answer[left.robot[batch]] @ push) ** 2).mean()


def left_over(scenario: FlightScenario, found: Sequence[RobotFit], tracks: Sequence[RobotTrack]) -> Left:
    """Return the identified vehicles' errors in the windows of these tracks, and the inputs of the residual there."""
    steps, flights = min(robot.windows.length for robot in found), {track.flight for track in tracks}
    parts = []
    for number, robot in enumerate(found):
        kept = [i for i, (_, flight, _) in enumerate(robot.windows.place) if flight in flights]
        whiten, answer = _whitened(robot, steps, scenario.weather.gust_time_s)
        errors = robot.fit.errors[kept, :steps]
        columns = np.concatenate([errors[..., 0:3], errors[..., 3:6]], 1)
        parts.append((*_seen(robot, kept, tracks, steps), whiten @ columns, answer, np.full(len(kept), number)))
    own, offset, errors, answers, robots = zip(*parts, strict=True)
    single = [np.concatenate(part).astype(np.float32) for part in (own, offset, errors)]
    return Left(single[0], single[1], single[2], np.stack(answers).astype(np.float32), np.concatenate(robots))


def _seen(robot: RobotFit, kept: list[int], tracks: Sequence[RobotTrack], steps: int) -> tuple[np.ndarray, np.ndarray]:
    """[W, n, OWN] and [W, n, M, 3] of a robot's windows, at the estimates."""
    windows, part = robot.windows.of(kept), slice(SETTLE, SETTLE + steps)
    state, command = windows.state[:, part], windows.command[:, part, -1]
    theta = dict(zip(NAMES, robot.fit.value, strict=True))
    columns = tuple(np.moveaxis(state, -1, 0))
    lift = np.asarray(theta["thrust_scale"] / theta["mass_scale"])
    own = own_features(columns[7:10], columns[3:7], tuple(np.moveaxis(command, -1, 0)), lift)  # type: ignore[arg-type]
    return own, neighbours_of(windows, tracks)[:, part] - state[:, :, None, :3]


def _whitened(robot: RobotFit, steps: int, gust_time_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the whitening matrix [2 n, 2 n] of a robot's errors, and the whitened response [2 n, n] to a push in
    each decision.
    """
    period_s, drag_per_s = float(np.median(robot.windows.period_s)), max(robot.model.drag_per_s(robot.fit.value), 0.0)
    whiten = Whitener(steps, period_s, gust_time_s, drag_per_s).whitening(robot.fit.noise)
    late = np.arange(steps)[:, None] - np.arange(steps)
    speed = np.tril(np.exp(-drag_per_s * period_s * late)) * period_s
    place = np.cumsum(speed, 0) * period_s - 0.5 * period_s * speed
    return whiten, whiten @ np.concatenate([place, speed])
