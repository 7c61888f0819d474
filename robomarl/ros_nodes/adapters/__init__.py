"""Vehicles with messages of their own: units and frames of each change in its module, and nowhere else."""
