"""What simulates: a team that flies."""
