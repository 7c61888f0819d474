"""Bases that drive and take a Twist: TurtleBot, any differential or omnidirectional one. Law and watch have no ROS."""
