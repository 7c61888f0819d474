"""Additions of a game to the node graph."""
