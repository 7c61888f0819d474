"""Nodes that connect soccer teams to their vehicles."""
