"""Descriptions of vehicles and fleets: reads and checks their files, nothing else."""
