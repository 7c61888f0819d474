"""What the robots of a team with a payload import."""
