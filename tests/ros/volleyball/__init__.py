"""Volleyball behind ROS."""
