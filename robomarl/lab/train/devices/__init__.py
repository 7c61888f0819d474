"""Environments divided over several devices of one process."""
