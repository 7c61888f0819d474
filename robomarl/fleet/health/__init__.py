"""Whether a robot is well on a bundle that it was just switched to: its node says so, or a check in its place."""
