"""Settings of learning from a data set: the table `[offline]` of a recipe."""

from dataclasses import dataclass

from robomarl.core.config import Count, Fraction, Positive


@dataclass(frozen=True)
class OfflineConfig:
    """Settings of `algorithm` = "bc", "td3_bc" and "iql", which learn from `robomarl train --data FILE` without
    simulation.
    """

    steps: Count = 20_000
    """Gradient steps."""
    batch: Count = 256
    """Transitions of each."""
    target_rate: Fraction = 0.005
    """Share of the critic that goes into its slow copy with each step."""
    alpha: Positive = 2.5
    """td3_bc: weight of the critic, over its mean size, against being like the data."""
    expectile: Fraction = 0.7
    """iql: of the data's actions, how good a one the value is of: 0.5 the mean, near 1 the best."""
    temperature: Positive = 3.0
    """iql: an action that is better by one standard deviation of the returns counts exp(this) times more."""
    data: str = ""
    """Sha256 of the file that it was learned from; the run writes it."""
