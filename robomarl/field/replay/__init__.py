"""Replay of the recording of a field test: its decisions, computed again, and the course of the flight."""
