"""Identification from recorded tracks: the parameters in which field and simulator differ, and by how much."""
