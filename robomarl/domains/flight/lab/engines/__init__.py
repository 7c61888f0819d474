"""The engines of teams that fly."""
