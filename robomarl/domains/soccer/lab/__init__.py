"""What simulates: a team that plays soccer."""
