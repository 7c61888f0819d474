"""`CarrierConfig`: the section `carrier` of a vehicle file, for vehicles that carry a load on a cable."""

from dataclasses import dataclass

from robomarl.config import Positive


@dataclass(frozen=True)
class CarrierConfig:
    """Gains of the controller of `robomarl.domains.flight.control.indi`."""

    tilt_per_s2: Positive
    """Angular acceleration over tilt error."""
    yaw_per_s2: Positive
    """Angular acceleration over heading error."""
    rate_per_s: Positive
    """Angular acceleration over roll and pitch rate error."""
    yaw_rate_per_s: Positive
    """Angular acceleration over yaw rate error."""
    force_filter_hz: Positive
    """Low-pass filter of measured acceleration and rotor thrust."""
    rate_filter_hz: Positive
    """Low-pass filter of body rates and torque."""
    inversion_filter_hz: Positive
    """Second low-pass filter of what the incremental inversion uses."""
    body_rate_rad_s: Positive
    """Largest roll and pitch rate command."""
