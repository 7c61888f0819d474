"""Additions of a payload to the node graph."""
