"""The certificate of a fleet, proved before a bundle is put on its robots."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from robomarl.core.bundle.bundle import Bundle
from robomarl.core.config import UserError
from robomarl.core.filter.params import SafetyParams
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.vehicle import AnyVehicle
from robomarl.core.types import Figures

if TYPE_CHECKING:
    from robomarl.core.domain.onboard import CertifiedCommand
    from robomarl.lab.prove.theorem import Given


def prove_fleet(fleet: Fleet, bundle: Bundle) -> int:
    """Check the certificate's inequalities over the vehicle files of a fleet that flies it.

    Returns:
        The number of inequalities that z3 proved; 0 for a fleet with another filter.

    Raises:
        UserError: the certificate does not cover such robots, or an inequality does not hold; says which, and by how
            much.
    """
    if fleet.filter != "certificate":
        return 0
    from robomarl.core.certificate.figures import uncovered
    from robomarl.core.filter.params import from_vehicle
    from robomarl.lab.prove.pairs import check_fleet, fleet_of
    from robomarl.ros.robot.certified.bare import bare_limits
    from robomarl.ros.robot.certified.radio import stated_reach

    vehicle = fleet.vehicles.get(bundle.contract.vehicle.name, fleet.vehicle_config)

    def limits_of(one: AnyVehicle) -> SafetyParams:
        return from_vehicle(one, 1 / bundle.contract.rate_hz, bundle.contract.safety.arena, len(fleet.own) - 1)

    try:
        params = replace(limits_of(vehicle), obstacles=bundle.contract.safety.obstacles).tighten(bundle.contract.safety)
    except ValueError as error:
        raise UserError(f"Fleet {fleet.name}: {vehicle.name} with bundle {bundle.contract.name}: {error}") from None
    if fleet.is_unlike:
        params = bare_limits(params, limits_of(vehicle), bundle.contract.name, vehicle.name)
    way = _way_of(fleet, bundle, params)
    params = way.params if way else params
    if name := uncovered(params):
        raise UserError(f"Fleet {fleet.name}: filter = certificate does not cover {name} yet; write filter: qp.")
    radio, tether = fleet.radio, way.tether if way else None
    reach = stated_reach(radio.range_m, radio.within_s, bundle.contract.rate_hz, radio.rate_hz)
    flown = {name: (limits_of(other), other.body.radius_m) for name, other in fleet.vehicles.items()}
    return len(check_fleet(fleet_of({**flown, vehicle.name: (params, vehicle.body.radius_m)}, reach, tether)))


def _way_of(fleet: Fleet, bundle: Bundle, params: SafetyParams) -> "CertifiedCommand | None":
    """Return how the bundle's commands go through the certificate; None: they are acceleration and yaw rate.

    Raises:
        UserError: there is no such way for a fleet like this one.
    """
    from robomarl.core.domain.registry import command_of
    from robomarl.ros.robot.command_layout import FLYING

    action, name = bundle.contract.action, bundle.contract.name
    if (certified := command_of(action).certified) is not None:
        if fleet.is_unlike:
            raise UserError(
                f"Fleet {fleet.name}: filter = certificate flies robots that are commanded as {name} does with one "
                "vehicle; write filter: qp."
            )
        return certified(params, bundle.contract.scenario.content)
    if (names := tuple(field.name for field in action.sent)) != FLYING:
        raise UserError(
            f"Fleet {fleet.name}: filter = certificate moves robots by {', '.join(FLYING)}, and {name} commands "
            f"{', '.join(names)}; write filter: qp."
        )
    return None


def proved(given: "Given", name: str) -> Figures:
    """Check the certificate's inequalities over the file of a vehicle with this name, print them, and return them.

    Raises:
        UserError: one does not hold.
    """
    from robomarl.lab.prove.theorem import check_theorem

    claims = check_theorem(given, name)
    for claim in claims:
        print(f"  proved: {claim.name}, {claim.text}")
    return {"theorem": [claim._asdict() for claim in claims]}


def rates_beside(fleet: Fleet, bundle: Bundle, root: Path) -> list[str]:
    """Compare the bundle's rate of decisions with that of the bundles on robots of other vehicles.

    Args:
        fleet: the fleet.
        bundle: the bundle that is put on the robots of its vehicle.
        root: folder that relative folders of robots on this machine are below.

    Returns:
        A remark on each robot that has a bundle of another rate, which nothing proves to fly beside this one, and one
        on the robots whose bundle can't be read from here.
    """
    if not fleet.is_unlike:
        return []
    from robomarl.core.bundle.bundle import load_bundle
    from robomarl.fleet.store import Store

    unread, said = list[str](), list[str]()
    rate_hz, flown = bundle.contract.rate_hz, fleet.flown_as(bundle.contract.vehicle.name)
    for robot in (one for one in fleet.own if one not in flown):
        store = Store(root / Path(robot.folder).expanduser())
        current = None if robot.host else store.state().current
        if current is None:
            unread.append(robot.name)
        elif (theirs := load_bundle(store.folder(current)).contract).rate_hz != rate_hz:
            said.append(
                f"{robot.name} has bundle {theirs.name}, which decides {theirs.rate_hz:g} times a second, and "
                f"{bundle.contract.name} {rate_hz:g} times: they will not fly together; flash one of its rate there."
            )
    told = f"the bundle of {', '.join(unread)} is not known here; proved for {rate_hz:g} decisions a second of all."
    return [*said, told] if unread else said
