"""The safety campaign: adversaries, plants, what is counted."""
