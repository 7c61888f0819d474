"""Settings of REPPO beside the keys that all learners share: the table `[reppo]` of a recipe."""

from dataclasses import dataclass

from robomarl.core.config import Count, Positive


@dataclass(frozen=True)
class ReppoConfig:
    """Settings of `algorithm = "reppo"`, see `robomarl.lab.train.reppo.learner`."""

    kl_bound: Positive = 0.1
    """KL divergence in nats of a robot's policy from the one that played; where it is more, only coming back counts."""
    first_multiplier: Positive = 1.0
    """Weight of that divergence at first; it is learned."""
    first_temperature: Positive = 1e-3
    """Worth of a nat of entropy in a decision at first, in units of the reward; it is learned."""
    entropy: float = -0.5
    """Entropy that the temperature aims at, of a component of the command within [-1, 1] in nats: at first ..."""
    final_entropy: float = -1.2
    """... and at last; in between it falls linearly with the steps. A deviation of 0.2 is -0.19, of 0.05 -1.58."""
    dual_rate: Positive = 1e-2
    """Learning rate of the logarithms of multiplier and temperature."""
    bins: Count = 51
    """Number of bins of the critic's histogram of the return."""
    support: Positive = 5.0
    """Half-width of the histogram about the mean of the returns, in standard deviations of the returns; a return
    farther off counts as the end.
    """
