"""Health check of a robot on the bundle that it was just switched to: by its node, or by a check in its place."""
