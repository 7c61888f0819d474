"""Its nodes: a team that flies."""
