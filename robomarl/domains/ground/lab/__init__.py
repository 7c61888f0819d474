"""What simulates: a team on the ground."""
