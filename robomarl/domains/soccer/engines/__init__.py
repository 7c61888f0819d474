"""The engines of games."""
