"""Weights out of the checkpoints of other trainers: arrays by name, read without running any code of the file."""
