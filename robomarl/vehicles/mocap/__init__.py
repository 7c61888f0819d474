"""Motion capture: poses without velocity become odometry. Checks and filter have no ROS."""
