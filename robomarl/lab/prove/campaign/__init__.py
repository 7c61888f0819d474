"""Safety campaign: adversaries, plants, and counts."""
