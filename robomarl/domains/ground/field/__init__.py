"""What simulates it behind ROS nodes, and learns from its flights: a team on the ground."""
