"""Completion scripts for shells, made of the commands' own `Args`."""
