"""Volleyball on a plant that shares no code with the engines."""
