"""The certificate of a fleet, proved before a bundle is put on its robots."""

from dataclasses import replace

from robomarl.core.bundle.bundle import Bundle
from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet


def prove_fleet(fleet: Fleet, bundle: Bundle) -> int:
    """Check the certificate's inequalities over the vehicle file of a fleet that flies it.

    Returns:
        The number of inequalities that z3 proved; 0 for a fleet with another filter.

    Raises:
        UserError: the certificate does not cover such robots, or an inequality does not hold; says which, and by how
            much.
    """
    if fleet.filter != "certificate":
        return 0
    from robomarl.core.certificate.figures import figures_of, uncovered
    from robomarl.core.domain.registry import command_of
    from robomarl.core.filter.params import from_vehicle
    from robomarl.core.hardware.vehicle import load_any_vehicle
    from robomarl.lab.prove.theorem import Given, check_theorem
    from robomarl.ros.robot.command_layout import FLYING

    vehicle, action = load_any_vehicle(fleet.vehicle, fleet.estimator), bundle.contract.action
    certified = command_of(action).certified
    if certified is None and (names := tuple(field.name for field in action.sent)) != FLYING:
        raise UserError(
            f"Fleet {fleet.name}: filter = certificate moves robots by {', '.join(FLYING)}, and {bundle.contract.name} "
            f"commands {', '.join(names)}; write filter: qp."
        )
    params = from_vehicle(vehicle, 1 / bundle.contract.rate_hz, bundle.contract.safety.arena, len(fleet.own) - 1)
    try:
        params = replace(params, obstacles=bundle.contract.safety.obstacles).tighten(bundle.contract.safety)
    except ValueError as error:
        raise UserError(f"Fleet {fleet.name}: {vehicle.name} with bundle {bundle.contract.name}: {error}") from None
    params = certified(params).params if certified else params
    if name := uncovered(params):
        raise UserError(f"Fleet {fleet.name}: filter = certificate does not cover {name} yet; write filter: qp.")
    radius_m = vehicle.body.radius_m
    return len(check_theorem(Given(params, radius_m, figures_of(params, radius_m)), vehicle.name))
