"""Crazyflies over radio, without ROS on them: `cflib`."""
