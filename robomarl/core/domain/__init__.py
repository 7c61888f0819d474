"""What a kind of team is, and the registry of those that are installed."""
