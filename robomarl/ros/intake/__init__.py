"""What comes in: whether it is a message, and what was refused."""
