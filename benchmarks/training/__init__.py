"""Benchmarks of the engines and of training."""
