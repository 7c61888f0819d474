"""What robots that play soccer import."""
