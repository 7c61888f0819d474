"""Attacks on the safety filter: campaigns, and a search for the worst disturbances."""
