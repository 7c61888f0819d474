"""Model that identification fits: one free quadrotor of the `fast` engine, with a delay that need
not be a multiple of the sub-step.

While a window settles, the model is reset to the estimated state before every decision; only the
rotors' thrusts, which are not measured, carry over. From then on the model is open-loop, with the
commands that were sent. In a sub-step the mean of the commands in force acts, so that the result
is smooth in the delay.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import Vehicle
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec3, Vec4, up_axis
from robomarl.domains.flight.lab.quadrotor import (
    Physics,
    RigidVehicle,
    move,
    rotor_memory,
    rotor_targets,
    spin_rotors,
)
from robomarl.domains.flight.lab.residual import Residual, accel_of, lift_of, own_features
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.field.identify.fit import FittedModel, Predict
from robomarl.field.identify.windows import SETTLE, Windows

NAMES = ("delay_s", "mass_scale", "thrust_scale", "rotor_tau_scale", "drag_per_s", "wind_x_m_s", "wind_y_m_s")
UNITS = ("s", "1", "1", "1", "1/s", "m/s", "m/s")
AT_ONCE = 24
"""Windows for which the model is compiled."""


class WindowDecision(NamedTuple):
    """Data of one decision in a window."""

    state: Array
    """[13] estimated."""
    settles: Array
    """bool: the model is put there."""
    command: Array
    """[J, A] oldest first."""
    sent_s: Array
    """[J] from the decision's estimate on."""
    mates: Array | tuple
    """[M, 3] positions of the teammates; empty if no residual needs them."""


class WindowFlown(NamedTuple):
    """One window; see `robomarl.field.identify.windows.Windows`."""

    state: Array
    """[K + 1, 13]."""
    period_s: Array
    command: Array
    """[K, J, A]."""
    sent_s: Array
    """[K, J]."""
    mates: Array | tuple = ()
    """[K, M, 3] positions of the teammates at each decision."""


def fitted(scenario: FlightScenario) -> FittedModel:
    """The model of a scenario's vehicles; a fit begins at their file, in the middle of the scenario's delays.

    Raises:
        UserError: something hangs from them.
    """
    if scenario.load is not None:
        raise UserError(f"{scenario.name}.toml: vehicles under a load can't be identified yet; name flights without.")
    first = [np.mean(scenario.randomize.delay_s), 1.0, 1.0, 1.0, scenario.vehicle_config.body.drag_per_s, 0.0, 0.0]
    floor = [1e-4, 5e-4, 5e-4, 1e-3, 2e-3, 5e-3, 5e-3]
    scale = np.array([0.01, 0.1, 0.1, 0.1, 0.1, 0.3, 0.3])
    predict, gust_time_s = partial(predictor, scenario), scenario.weather.gust_time_s
    return FittedModel(NAMES, UNITS, np.array(first), scale, np.array(floor), predict, gust_time_s, drag_of)


def drag_of(theta: np.ndarray) -> float:
    """Return the drag [1/s] of a vehicle with these parameters. The drag force refers to the mass in the vehicle
    file, for any true mass.
    """
    return float(theta[NAMES.index("drag_per_s")] / theta[NAMES.index("mass_scale")])


def predictor(scenario: FlightScenario, windows: Windows) -> Predict:
    """The model of these windows, compiled at the first call for windows of one shape."""
    compiled, count = _compiled(scenario), windows.count
    padded = windows.of([i % count for i in range(-(-count // AT_ONCE) * AT_ONCE)])  # few shapes to compile for
    given = [jnp.asarray(part, jnp.float32) for part in padded[:4]]
    shift = given[0][:, :1, :3]  # single precision is for what changes within a window
    given[0] = given[0].at[..., :3].add(-shift)

    def predict(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        out, slope = (np.array(part[:count], float) for part in compiled(jnp.asarray(theta, jnp.float32), *given))
        out[..., :3] += np.asarray(shift[:count], float)
        return out, slope

    return predict


_KEPT: dict[tuple[str, str, float], Callable] = {}


def _compiled(scenario: FlightScenario) -> Callable:
    """Return the compiled function for outputs and derivatives of all windows; it is cached for scenarios of one
    vehicle and rate.
    """
    key = scenario.name, scenario.vehicle, scenario.physics_dt_s
    if key not in _KEPT:
        one = partial(_outputs_alone, scenario)
        both = jax.vmap(lambda *given: (one(*given), jax.jacfwd(one)(*given)), in_axes=(None, 0, 0, 0, 0))
        _KEPT[key] = jax.jit(both)
    return _KEPT[key]


def _outputs_alone(
    scenario: FlightScenario, theta: Array, state: Array, period_s: Array, command: Array, sent_s: Array
) -> Array:
    """Return the window outputs of the model without a residual."""
    return window_outputs(scenario, theta, WindowFlown(state, period_s, command, sent_s))


def window_outputs(scenario: FlightScenario, theta: Array, flown: WindowFlown, member: Residual | None = None) -> Array:
    """Return position, velocity, tilt and body rates [K, 11] after each decision of one window.

    Args:
        scenario: scenario that gives vehicle and rates.
        theta: [P] parameters, `NAMES`.
        flown: the window.
        member: a member of a residual, which pushes as well; its push is constant from one decision
            to the next, as on the engines.
    """
    state, period_s, command, sent_s, mates = flown
    vehicle, substeps = scenario.vehicle_config, scenario.substeps
    delay_s, mass, thrust, tau, drag_per_s, *wind = (theta[i] for i in range(len(NAMES)))
    nominal_kg, dt_s = vehicle.body.mass_kg, period_s / substeps
    physics = Physics(mass * nominal_kg, thrust, tau * vehicle.rotors.time_constant_s)
    memory = rotor_memory(physics.rotor_tau_s, dt_s)

    def decision(body: RigidVehicle, told: WindowDecision) -> tuple[RigidVehicle, Array]:
        there = vehicle_at(told.state, body.rotors)
        body = jax.tree.map(lambda a, b: jnp.where(told.settles, a, b), there, body)
        missed = () if member is None else missed_force(member, (vehicle, physics), body, told)

        def substep(i: Array, body: RigidVehicle) -> RigidVehicle:
            acting = mean_in_force(told, delay_s, i * dt_s, dt_s)
            targets = rotor_targets(vehicle, body.quat, body.omega, tuple(acting[:3]), acting[3])
            body = body._replace(rotors=spin_rotors(body.rotors, targets, memory))
            push = tuple(drag_per_s * nominal_kg * (w - v) for v, w in zip(body.vel, (*wind, 0.0), strict=True))
            push = tuple(p + m for p, m in zip(push, missed, strict=True)) if missed else push
            return move(vehicle, body, physics, (push, (0.0, 0.0, 0.0)), dt_s)  # type: ignore[arg-type]

        body = jax.lax.fori_loop(0, substeps, substep, body)
        up = up_axis(body.quat)
        return body, jnp.stack([*body.pos, *body.vel, up[0], up[1], *body.omega])

    told = WindowDecision(state[:-1], jnp.arange(len(command)) <= SETTLE, command, sent_s, mates)
    hover = (jnp.float32(0.25 * nominal_kg * GRAVITY_M_S2),) * 4
    return jax.lax.scan(decision, vehicle_at(state[0], hover), told)[1]


def missed_force(member: Residual, of: tuple[Vehicle, Physics], body: RigidVehicle, told: WindowDecision) -> Vec3:
    """Return the push [N, world] of a residual in a decision of a vehicle with this physics."""
    own = own_features(body.vel, body.quat, tuple(told.command[-1]), lift_of(*of))
    offset = told.mates - jnp.stack(body.pos)  # type: ignore[operator]
    return tuple(of[1].mass_kg * a for a in accel_of(member, own[None], offset[None])[0])  # type: ignore[return-value]


def vehicle_at(state: Array, rotors: Vec4) -> RigidVehicle:
    """A vehicle in a state [13]."""
    pos, quat, vel, omega = (tuple(part) for part in jnp.split(state, [3, 7, 10]))
    return RigidVehicle(pos, quat, vel, omega, rotors)  # type: ignore[arg-type]


def mean_in_force(told: WindowDecision, delay_s: Array, begin_s: Array | float, dt_s: Array) -> Array:
    """[A] the mean over a sub-step of the commands in force."""
    since = told.sent_s + delay_s - begin_s
    begin = jnp.clip(since.at[0].set(-1.0), 0.0, dt_s)
    end = jnp.append(begin[1:], dt_s)
    return ((end - begin) / dt_s) @ told.command
