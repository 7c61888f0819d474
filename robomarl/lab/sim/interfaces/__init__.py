"""Our environments as those of other libraries, for trainers that are written for them. Robots are called robot_0, ...

Actions are in [-1, 1], the range of each element of the command; done, and cut off by time, is a team as a whole.
"""


def robot_names(count: int) -> list[str]:
    """Names of the agents."""
    return [f"robot_{i}" for i in range(count)]
