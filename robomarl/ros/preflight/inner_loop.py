"""`loop_fault`: whether a bundle was trained above the control that is under a robot's commands. No ROS.

A faster loop than those of training fits; a slower or later one does not.
"""

from robomarl.core.bundle.contract import Contract
from robomarl.core.domain.registry import onboard_of
from robomarl.core.hardware.sections import InnerLoop
from robomarl.core.hardware.vehicle import AnyVehicle


def needed_loop(contract: Contract) -> InnerLoop | None:
    """Return the control that a bundle was trained above; of an older one, by its task; None: any."""
    kind = onboard_of(contract.scenario.content).inner_loop
    return contract.inner_loop or (InnerLoop(kind) if kind else None)


def loop_fault(contract: Contract, kind: str, vehicle: AnyVehicle) -> str:
    """Return the reason why a bundle can't fly above a robot's low-level control; "" if it can.

    Args:
        contract: of the bundle.
        kind: control of the robot's adapter, a kind of `InnerLoop`; "" if it is not known.
        vehicle: the robot's, whose file may have the figures of its autopilot.
    """
    needed, there = needed_loop(contract), vehicle.inner_loop
    if needed is None or not kind:
        return ""
    if needed.kind == "torque_inversion" and kind != needed.kind:
        return (
            f"bundle {contract.name} flies only above torque inversion from measured rotor speeds (inner_loop of its "
            "contract, or its task), and the autopilot has an attitude controller, under which it tips over; fly it "
            "in simulation, or name another bundle"
        )
    return _slower(contract.name, needed, there, vehicle.name) if there and there.kind == kind else ""


def _slower(bundle: str, needed: InnerLoop, there: InnerLoop, vehicle: str) -> str:
    """Return the first figure of the robot's loop that is worse than all in training, with both numbers."""
    if needed.attitude_rad_s and there.attitude_rad_s and there.attitude_rad_s[0] < needed.attitude_rad_s[0]:
        least, found = needed.attitude_rad_s[0], there.attitude_rad_s[0]
        return (
            f"bundle {bundle} was trained above an attitude loop of at least {least:.3g} rad/s, and that of "
            f"{vehicle}.yaml has {found:.3g} (inner_loop.attitude_rad_s); train it for this loop"
        )
    for key in ("lag_s", "delay_s"):
        most, found = getattr(needed, key), getattr(there, key)
        if most and found and found[1] > most[1]:
            return (
                f"bundle {bundle} was trained with at most {most[1]:.3g} s, and {vehicle}.yaml has {found[1]:.3g} "
                f"(inner_loop.{key}); train it for this loop"
            )
    return ""
