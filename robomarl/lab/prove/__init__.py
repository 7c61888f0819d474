"""What attacks the safety filter: campaigns, and a search for the worst."""
