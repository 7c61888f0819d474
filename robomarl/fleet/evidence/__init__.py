"""Tamper-evident records of every operator's changes to a robot."""
