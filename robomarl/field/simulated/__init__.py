"""Nodes that simulate a team behind the topics of real robots."""
