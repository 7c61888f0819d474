"""A player that sees by a camera alone: what its network finds in a picture, and what that becomes over time."""
