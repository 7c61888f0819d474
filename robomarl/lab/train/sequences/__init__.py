"""Decisions that are sequences of actions: how they are played, learned and begun."""
