"""Identification of the payload from recordings of teams that carry one."""
