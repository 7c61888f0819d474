"""Vehicles that speak MAVLink over UDP: PX4, ArduPilot. `pymavlink`, no ROS on them."""
