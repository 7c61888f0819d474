"""What its robots decide with: a team that flies."""
