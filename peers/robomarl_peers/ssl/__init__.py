"""A simulated field of the Small Size League: its vision, and robots that are spoken to as the league's are."""
