"""Preparation of a policy node: it checks the bundle on this machine, and puts it behind the robot's
own limits.

No ROS here. The robot's vehicle file and arena bound the commands of the bundle, never the reverse.
"""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.core.bundle.contract import Contract
from robomarl.core.bundle.golden import check_filter
from robomarl.core.bundle.perception import Perception, open_perception
from robomarl.core.bundle.pilot import Pilot
from robomarl.core.bundle.runtime import Policy, open_policy, read_golden
from robomarl.core.certificate.figures import ruled
from robomarl.core.config import UserError, build
from robomarl.core.domain.registry import command_of, commands, filter_for, onboard_of
from robomarl.core.filter.filter import Arena, SafetyFilter, SafetyParams, from_vehicle
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.hardware.sections import ASSUMED
from robomarl.core.hardware.vehicle import AnyVehicle, Quadrotor, load_any_vehicle
from robomarl.core.view import blank_view
from robomarl.fleet.checks.camera_fit import camera_fault
from robomarl.fleet.store import Store
from robomarl.fleet.trust.policy import offer_of
from robomarl.ros.fieldtask import FieldTask, Seat, field_task
from robomarl.ros.io.messages import empty_snapshot
from robomarl.ros.preflight.inner_loop import loop_fault, needed_loop
from robomarl.ros.robot.certified.bare import bare_limits
from robomarl.ros.robot.certified.carry import TeamSeat
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.certified.radio import stated_reach
from robomarl.ros.robot.command_layout import FLYING
from robomarl.ros.robot.health import Assumptions
from robomarl.ros.robot.hover.touchdown import GROUND_M
from robomarl.ros.settings import ANYWHERE, NOWHERE, PolicySettings

LOAD_STEPS = 10
"""Decisions of each golden sequence that the filter is tried on at every start; `flash` and `verify` try all."""
ON_THE_WAY_S = 0.1
"""Time [s] that a command may need to its vehicle; one sent later before the vehicle's limit may be too late."""
WARM_UP = 30
"""Decisions before the first real one: the first few take tens of times longer."""


@dataclass(frozen=True)
class Loaded:
    """A bundle that is ready to fly."""

    pilot: Pilot
    landing: SafetyFilter
    """Filter of a landing, with its floor lowered by `GROUND_M`: a landing ends on the ground."""
    id: str
    name: str
    rate_hz: float
    max_gap_s: float
    """A longer time between two decisions makes every memory start again."""
    seen: tuple[str, ...]
    """Names of the elements of its observation."""
    task: FieldTask
    """Task of the scenario that the bundle was trained for, for this robot."""
    contract: str
    """Name and schema of its contract."""
    vehicle: str
    assumes: Assumptions
    own_error_m: float
    """Position error [m] of what arrives as own estimates: of a robot that sees that of its odometry, which jumps no
    farther because the pictures say less."""
    land_speed_m_s: float
    """Landing speed of the vehicle file [m/s]; 0 for a vehicle that drives."""
    vehicle_alone_s: float
    """Time [s] without a command after which the node leaves the vehicle to itself, `ON_THE_WAY_S` before the
    vehicle lands by itself or stops its motors; +inf for a vehicle that drives.
    """


class Files(NamedTuple):
    """Content of the robot's files."""

    bundle: Bundle
    vehicle: AnyVehicle
    """The robot's own; the bundle's is the one of training."""


class Fitted(NamedTuple):
    """A policy behind this robot's filters, and its task."""

    pilot: Pilot
    landing: SafetyFilter
    task: FieldTask


def load_pilot(settings: PolicySettings, on_trial: bool = False) -> Loaded:
    """Read the robot's bundle, check it here, fit it to the robot and its team, and warm it up.

    Args:
        settings: settings of the node.
        on_trial: also load a flashed bundle that is not confirmed yet; it does not fly before that.

    Raises:
        UserError: no bundle, one that is broken or acts differently here, or that is for another team, vehicle
            or command.
    """
    files = read(settings, on_trial)
    policy = check(files)
    fitted = fit(policy, files, settings)
    warm(fitted, len(settings.team) - 1)
    return _loaded(files, fitted)


def read(settings: PolicySettings, on_trial: bool = False) -> Files:
    """Read bundle and vehicle file, each once.

    Raises:
        UserError: one is missing or damaged, or the bundle is for another team, command, vehicle or
            low-level control.
    """
    root = Path(settings.robot_root) if settings.robot_root else None
    if settings.bundle:
        bundle = named_bundle(settings.bundle, root)
    else:
        bundle = flashed_bundle(Path(settings.robot_root), on_trial)
    check_team(bundle.contract, settings, str(bundle.folder))
    vehicle = load_any_vehicle(settings.vehicle or bundle.contract.vehicle.name, settings.estimator)
    if fault := loop_fault(bundle.contract, settings.inner_loop, vehicle):
        raise UserError(f"{bundle.folder}: {fault}.")
    return Files(bundle, vehicle)


def check(files: Files) -> Policy:
    """Open the policy, and replay the golden sequences with it and with its filter.

    Raises:
        UserError: the bundle is for another vehicle or camera, or acts differently on this machine.
    """
    bundle, vehicle = files
    if vehicle.name != bundle.contract.vehicle.name:
        raise UserError(_for_another(bundle.contract, vehicle.name, str(bundle.folder)))
    if fault := camera_fault(bundle.contract, vehicle):
        raise UserError(f"{fault}; mend it there, or flash a bundle for this camera.")
    policy = open_policy(bundle)
    deviation = check_filter(bundle.contract, read_golden(bundle), LOAD_STEPS)
    if not deviation.ok:
        raise UserError(f"{bundle.folder}: {deviation}; this machine does not filter as it was trained, don't fly it.")
    return policy


def fit(policy: Policy, files: Files, settings: PolicySettings) -> Fitted:
    """Put the policy behind the filters of this robot, and its task before it.

    Raises:
        UserError: limits of robot and bundle exclude each other, or the robots can't do the task.
    """
    scenario, size = policy.contract.scenario.content, len(settings.team)
    limits = robot_limits(policy.contract, settings, files.vehicle)
    # The floor of the arena is a line in the air, and a landing ends on the ground below it.
    landing, safety = (
        guard_of(policy, files.vehicle, settings, params) for params in (limits.with_lower_floor(GROUND_M), limits)
    )
    reckons = ruled(limits, safety.figures) if isinstance(safety, CertifiedRobot) else limits
    pilot = Pilot(policy, safety, onboard_of(scenario).rules(reckons))
    onboard_of(scenario).check_robot(scenario, files.vehicle, size)
    seat = Seat(settings.index, size, settings.away, settings.pitch_m, *eyes_of(files.bundle, settings))
    return Fitted(pilot, landing, field_task(scenario, seat))


def eyes_of(bundle: Bundle, settings: PolicySettings) -> tuple[Perception | None, bool]:
    """Return the bundle's network that reads pictures, and True if pictures come compressed.

    Raises:
        UserError: the network acts differently on this machine, or there is no such transport.
    """
    if settings.image_transport not in ("raw", "compressed"):
        told = settings.image_transport
        raise UserError(f"policy_node: image_transport = {told!r} is not known; allowed: raw, compressed.")
    return open_perception(bundle), settings.image_transport == "compressed"


def guard_of(policy: Policy, vehicle: AnyVehicle, settings: PolicySettings, params: SafetyParams) -> SafetyFilter:
    """Return the safety filter that the robot's settings name, with these parameters.

    Raises:
        UserError: there is no such filter, or it is not for such a robot.
    """
    if settings.filter in ("full", "qp"):
        return filter_for(policy.action, params)
    if settings.filter != "certificate":
        raise UserError(f"policy_node: filter = {settings.filter!r} is not known; allowed: full, qp, certificate.")
    count, beside = len(settings.team), beside_of(settings, params)
    mates = [(settings.index + 1 + k) % count for k in range(count - 1)]
    if beside:
        file = from_vehicle(vehicle, params.period_s, params.arena, len(mates))
        params = bare_limits(params, file, policy.contract.name, vehicle.name)
    stated = settings.radio_range_m, settings.radio_within_s
    reach = stated_reach(*stated, 1 / params.period_s, settings.radio_hz)
    seat = TeamSeat(settings.index, mates, beside, reach)
    if (certified := command_of(policy.action).certified) is not None:
        way = certified(params, policy.contract.scenario.content)
        if beside:
            raise UserError(
                f"policy_node: robots that are commanded as {policy.contract.name} does are of one vehicle."
            )
        return CertifiedRobot(way.params, vehicle.body.radius_m, seat, way=way)  # pyright: ignore[reportReturnType]
    if (names := tuple(field.name for field in policy.action.sent)) != FLYING:
        raise UserError(
            f"policy_node: filter = certificate moves robots by {', '.join(FLYING)}, and {policy.contract.name} "
            f"commands a {vehicle.name} by {', '.join(names)}; write filter: qp into the fleet file."
        )
    is_gained = len(policy.action.fields) > len(FLYING)
    return CertifiedRobot(params, vehicle.body.radius_m, seat, is_gained)  # pyright: ignore[reportReturnType]


def beside_of(settings: PolicySettings, params: SafetyParams) -> list[tuple[SafetyParams, float]]:
    """Return safety parameters and body radius of each vehicle of the team that is not this robot's.

    Raises:
        UserError: not every robot of the team has a vehicle, or this robot has another one there.
    """
    if not settings.is_unlike:
        return []
    own, names = settings.vehicle, settings.vehicles
    if len(names) != len(settings.team) or names[settings.index] != own:
        raise UserError(
            f"policy_node: vehicles = {', '.join(names)} must name the vehicle of each of {len(settings.team)} robots, "
            f"{own or '(none)'} of this one; mend it there."
        )
    others = [load_any_vehicle(name) for name in dict.fromkeys(names) if name != own]
    mates = len(settings.team) - 1
    return [(from_vehicle(v, params.period_s, params.arena, mates), v.body.radius_m) for v in others]


def warm(fitted: Fitted, mates: int) -> None:
    """Make some decisions of both filters that are not sent, because the first ones are slow."""
    values = {sensor.topic.name: None for sensor in fitted.task.sensors}
    view = blank_view(mates, fitted.task.sensed(values, empty_snapshot(mates)))
    for pilot in (fitted.pilot, Pilot(fitted.pilot.policy, fitted.landing)):
        pilot.warm_up(view, WARM_UP)


def _loaded(files: Files, fitted: Fitted) -> Loaded:
    contract, vehicle = files.bundle.contract, files.vehicle
    gaps = [carry.max_gap_s for carry in contract.carries]
    return Loaded(
        pilot=fitted.pilot,
        landing=fitted.landing,
        id=files.bundle.id,
        name=contract.name,
        rate_hz=contract.rate_hz,
        max_gap_s=min(gaps, default=5 / contract.rate_hz),
        task=fitted.task,
        contract=f"{contract.name}, schema {contract.schema_version}{_certificate(fitted.pilot)}",
        vehicle=vehicle.name,
        assumes=Assumptions(vehicle.estimator or ASSUMED, needed.kind if (needed := needed_loop(contract)) else ""),
        own_error_m=(vehicle if contract.image else fitted.pilot.safety.params).safety.position_error_m,
        land_speed_m_s=_land_speed_m_s(vehicle),
        vehicle_alone_s=_vehicle_alone_s(vehicle),
        seen=tuple(contract.observation.spec.element_names()),
    )


def _certificate(pilot: Pilot) -> str:
    if not isinstance(pilot.safety, CertifiedRobot):
        return ""
    return f", certificate {pilot.safety.mark} at {1 / pilot.safety.params.period_s:g} Hz"


def named_bundle(name: str, root: Path | None) -> Bundle:
    """Return a bundle that was not flashed; a robot that accepts only signed bundles rejects it unsigned,
    too.

    Raises:
        UserError: there is none, it is damaged, or not signed by a signer that the robot trusts.
    """
    bundle = load_bundle(name)
    if root is not None:
        Store(root).admit(offer_of(bundle))
    return bundle


def flashed_bundle(root: Path, on_trial: bool = False) -> Bundle:
    """The current bundle in a robot's folder; see `load_pilot`.

    Raises:
        UserError: there is none, or it is damaged.
    """
    store = Store(root)
    store.settle()
    state = store.state()
    if state.pending is not None and not on_trial:
        raise UserError(f"{root}: is being flashed now; configure the node again when that is done.")
    current = state.current
    if current is None:
        raise UserError(f"{root}: no bundle is flashed; run robomarl flash, or name a bundle.")
    return store.load(current)


def check_team(contract: Contract, settings: PolicySettings, folder: str) -> None:
    """Compare team, command and vehicle of the bundle with those that the robot's settings name.

    Raises:
        UserError: they differ.
    """
    least, most = contract.team_size
    size = len(settings.team)
    if not 0 <= settings.index < size:
        raise UserError(f"policy_node: index = {settings.index} is not one of the team's {size} robots.")
    if not least <= size <= most:
        sizes = f"{least}" if least == most else f"{least} to {most}"
        raise UserError(f"{folder}: is for teams of {sizes} robots, not {size}; flash another bundle.")
    named = settings.vehicle
    if named and not named.endswith((".yaml", ".yml")) and named != contract.vehicle.name:
        raise UserError(_for_another(contract, named, folder))
    kinds = list(dict.fromkeys(command.elements for command in commands()))
    if (names := tuple(field.name for field in contract.action.fields)) not in kinds:
        known = " or ".join(", ".join(command) for command in kinds)
        raise UserError(f"{folder}: commands {', '.join(names)}; this node sends {known}.")


def _for_another(contract: Contract, vehicle: str, folder: str) -> str:
    return f"{folder}: is for {contract.vehicle.name}, this robot is a {vehicle}; flash another bundle."


def robot_limits(contract: Contract, settings: PolicySettings, vehicle: AnyVehicle) -> SafetyParams:
    """The filter's parameters: the robot's own, made stricter where the bundle is.

    Raises:
        UserError: the two have nothing in common.
    """
    arena, obstacles = _arena(settings), _obstacles(settings.obstacles)
    onboard = onboard_of(contract.scenario.content)
    try:
        # The bundle asks for the smallest team that it is for; the robot knows how many its own has.
        own = from_vehicle(vehicle, 1 / contract.rate_hz, arena, len(settings.team) - 1)
        own = onboard.limits(own, vehicle, settings.pitch_m)
        return replace(own, obstacles=obstacles).tighten(contract.safety)
    except ValueError as error:
        raise UserError(f"{vehicle.name} with bundle {contract.name}: {error}") from None


def _arena(settings: PolicySettings) -> Arena | None:
    """The box that the operator gave; None: none was given, and the bundle's counts.

    Raises:
        UserError: half a box, or none that is one: a geofence must not be wider than its operator thinks.
    """
    low, high = settings.arena_low_m, settings.arena_high_m
    if (low, high) == (NOWHERE, ANYWHERE):
        return None
    for name, corner in (("arena_low_m", low), ("arena_high_m", high)):
        if len(corner) != 3 or not np.isfinite(corner).all():
            told = list(corner)
            raise UserError(
                f"policy_node: {name} = {told} must be three finite numbers [m]; give both corners or none."
            )
    try:
        return Arena(low, high)
    except ValueError as error:
        raise UserError(f"policy_node: {error}") from None


def _obstacles(text: str) -> tuple[Obstacle, ...]:
    try:
        rows = json.loads(text or "[]")
    except json.JSONDecodeError as error:
        raise UserError(f"policy_node: obstacles is not a JSON list, {error}; mend it there.") from None
    if not isinstance(rows, list):
        raise UserError(f"policy_node: obstacles = {text[:40]} is not a JSON list; mend it there.")
    return tuple(build(Obstacle, row, f"policy_node, obstacles[{i}]") for i, row in enumerate(rows))


def _land_speed_m_s(vehicle: AnyVehicle) -> float:
    return vehicle.on_command_loss.land_speed_m_s if isinstance(vehicle, Quadrotor) else 0.0


def _vehicle_alone_s(vehicle: AnyVehicle) -> float:
    """When the node leaves the vehicle to itself: before the vehicle does so, so that both never take turns."""
    if not isinstance(vehicle, Quadrotor):
        return math.inf  # one that drives stops where it is, and may be driven on
    loss = vehicle.on_command_loss
    return min(loss.land_after_s, loss.motors_off_after_s or math.inf) - ON_THE_WAY_S
