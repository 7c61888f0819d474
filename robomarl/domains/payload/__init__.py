"""A rigid load on cables: one more part of the world, for scenarios with the sections `load` and `cables`."""
