"""Benchmarks of flashing: a bundle on its way to robots."""
