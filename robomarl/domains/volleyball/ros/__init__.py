"""Topics and senses of drones that play volleyball."""
