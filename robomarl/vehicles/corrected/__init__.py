"""Corrections of a vehicle's own state estimate, fitted to flights under motion capture. No ROS."""
