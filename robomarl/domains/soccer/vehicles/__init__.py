"""What stands between it and its vehicles: a team that plays soccer."""
