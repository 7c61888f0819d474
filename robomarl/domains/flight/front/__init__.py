"""Its pages and commands: a team that flies."""
