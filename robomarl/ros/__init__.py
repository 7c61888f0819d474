"""ROS 2 nodes, thin around logic that is importable without ROS. The graph is in `ros_nodes/README.md`."""
