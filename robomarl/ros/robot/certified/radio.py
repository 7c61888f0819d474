"""What the settings of a robot or a fleet say of the radio's range, as the certificate takes it. No ROS here."""

import math

from robomarl.core.certificate.reach import RadioReach


def radio_every(rate_hz: float, radio_hz: float) -> int:
    """Decisions from one state-and-plan message to the next."""
    return max(math.floor(rate_hz / radio_hz + 1e-6), 1)


def stated_reach(range_m: float, within_s: float, rate_hz: float, radio_hz: float) -> RadioReach | None:
    """Return the range of robots that decide and send at these rates [1/s]; None if none is stated (0)."""
    return RadioReach(range_m, within_s, radio_every(rate_hz, radio_hz) / rate_hz) if range_m else None
