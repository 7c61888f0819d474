"""What a game adds to the node graph."""
