"""Recordings: written, watched and judged."""
