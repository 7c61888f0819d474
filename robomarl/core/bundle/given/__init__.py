"""Inputs of a decision: views and memories, checked before they are used."""
