"""The simulator's messages, in place of a tracking system."""
