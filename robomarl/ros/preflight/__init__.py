"""What is looked at before a team moves: topics, frames, clocks, batteries, space. What judges has no ROS."""
