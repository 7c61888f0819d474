"""Benchmarks of the ROS 2 nodes, and of one decision in them."""
