"""What adapters keep of what a vehicle says of itself."""

from dataclasses import dataclass

from robomarl.ros_nodes.io.messages import Estimate


@dataclass(frozen=True)
class StateSample:
    """One state estimate of a vehicle."""

    estimate: Estimate
    heard_s: float
    """By the clock of the link."""
    vehicle_ms: int
    """By the clock of the vehicle, the lowest 24 bits."""
    resets: int = 0
    """Its estimator's reset counter; it changes where the estimate was moved, and not the vehicle."""
    age_s: float = 0.0
    """How old it was when it was heard, where the two clocks are known to each other."""
