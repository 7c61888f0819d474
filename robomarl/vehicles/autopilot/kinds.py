"""Modes of the autopilots that speak MAVLink, and their settings on which a flight depends.

Numbers are facts of the two interfaces: PX4's `custom_mode` has the main mode in bits 16 to 23 and
the sub-mode in bits 24 to 31 (px4_custom_mode.h); ArduPilot's is the number of the copter's mode.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from robomarl.core.hardware.sections import CommandLossConfig

Checks = Callable[[Mapping[str, float], CommandLossConfig], str]
"""Function (parameters of the vehicle, vehicle file's rules for lost commands) -> why it may not fly; "" if it may."""


@dataclass(frozen=True)
class AutopilotKind:
    """One kind of firmware."""

    name: str
    guided: int
    """`custom_mode` that follows set-points."""
    land: int
    set_mode: Callable[[int], tuple[float, float]]
    """`custom_mode` -> the second and third parameter of MAV_CMD_DO_SET_MODE."""
    modes: Mapping[int, str]
    """Names by `custom_mode`."""
    climbs_by_target: bool
    """Set-points take it off the ground; else a command does."""
    parameters: tuple[str, ...]
    """Parameters that are read from the vehicle before it may fly."""
    check: Checks

    def mode_name(self, mode: int) -> str:
        """For an operator."""
        return self.modes.get(mode, f"mode {mode:#x}")


def px4_mode(main: int, sub: int = 0) -> int:
    """`custom_mode` of PX4."""
    return main << 16 | sub << 24


def check_px4(said: Mapping[str, float], loss: CommandLossConfig) -> str:
    """Return why PX4 would not land by itself without this adapter, or later than the vehicle file says; "" if it
    would.
    """
    action, lost_s, waits_s = (said[name] for name in PX4.parameters)
    if action != 4:
        return f"its COM_OBL_RC_ACT is {action:g}: without this adapter it would not land; set it to 4 (land)"
    if lost_s + waits_s > loss.land_after_s:
        return (
            f"its COM_OF_LOSS_T and COM_FAIL_ACT_T add up to {lost_s + waits_s:g} s: without this adapter it would "
            f"land later than land_after_s = {loss.land_after_s:g} s of the vehicle file; lower them"
        )
    return ""


def check_ardupilot(said: Mapping[str, float], loss: CommandLossConfig) -> str:
    """Return why ArduPilot would not land by itself when this adapter's heartbeats stop; "" if it would."""
    action, station = (said[name] for name in ARDUPILOT.parameters)
    if action != 5:
        return f"its FS_GCS_ENABLE is {action:g}: without this adapter it would not land; set it to 5 (land)"
    return "" if station == 255 else f"its SYSID_MYGCS is {station:g}; this adapter is 255"


PX4 = AutopilotKind(
    name="PX4",
    guided=px4_mode(6),
    land=px4_mode(4, 6),
    set_mode=lambda mode: (float(mode >> 16 & 0xFF), float(mode >> 24 & 0xFF)),
    modes={
        px4_mode(1): "MANUAL",
        px4_mode(2): "ALTCTL",
        px4_mode(3): "POSCTL",
        px4_mode(4, 2): "AUTO.TAKEOFF",
        px4_mode(4, 3): "AUTO.LOITER",
        px4_mode(4, 5): "AUTO.RTL",
        px4_mode(4, 6): "AUTO.LAND",
        px4_mode(6): "OFFBOARD",
        px4_mode(7): "STABILIZED",
    },
    climbs_by_target=True,
    parameters=("COM_OBL_RC_ACT", "COM_OF_LOSS_T", "COM_FAIL_ACT_T"),
    check=check_px4,
)
ARDUPILOT = AutopilotKind(
    name="ArduPilot",
    guided=4,
    land=9,
    set_mode=lambda mode: (float(mode), 0.0),
    modes={0: "STABILIZE", 2: "ALT_HOLD", 3: "AUTO", 4: "GUIDED", 5: "LOITER", 6: "RTL", 9: "LAND", 17: "BRAKE"},
    climbs_by_target=False,
    parameters=("FS_GCS_ENABLE", "SYSID_MYGCS"),
    check=check_ardupilot,
)
AUTOPILOTS = {12: PX4, 3: ARDUPILOT}
"""Kinds of firmware by MAV_AUTOPILOT."""
TYPES = {
    **{1: "a fixed wing", 2: "a quadrotor", 3: "a coaxial helicopter", 4: "a helicopter", 5: "an antenna tracker"},
    **{6: "a ground station", 10: "a rover", 11: "a boat", 12: "a submarine", 13: "a hexarotor", 14: "an octorotor"},
}
"""Names of vehicles by MAV_TYPE."""
QUADROTOR = 2
