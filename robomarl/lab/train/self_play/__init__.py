"""Training with opponents: games, leagues, scenarios in turn, teachers."""
