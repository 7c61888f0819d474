"""ROS 2 nodes and fleet rules of flying teams."""
