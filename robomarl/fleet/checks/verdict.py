"""`Verdict`: the result of a check of a bundle."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """Result of a check of a bundle by `robomarl verify`."""

    id: str
    """Empty where the bundle could not be read."""
    ok: bool
    problems: tuple[str, ...]
    """One sentence each."""
    parity_max: float | None = None
    """Largest difference of an observation or action element from training."""
    latency_p50_us: float | None = None
    """One robot's policy, half of the decisions are faster."""
    latency_p99_us: float | None = None
    step_p50_us: float | None = None
    """One robot's whole decision: view to filtered command."""
    step_p99_us: float | None = None
