"""What a payload adds to the node graph."""
