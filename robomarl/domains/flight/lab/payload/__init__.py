"""What simulates: a team that flies with a payload."""
