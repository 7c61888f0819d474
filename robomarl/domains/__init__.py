"""Kinds of teams, a folder each: everything that belongs to one kind only."""
