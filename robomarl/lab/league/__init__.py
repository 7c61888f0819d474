"""Leagues: bundles, scripts, runs and snapshots of one game play each other, and are rated."""
