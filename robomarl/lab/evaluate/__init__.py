"""Evaluation of policies: episodes on any engine, attacks, sensitivity."""
