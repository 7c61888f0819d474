"""From recorded tracks to what differs between the field and the simulator, and by how much."""
