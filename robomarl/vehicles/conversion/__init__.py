"""Conversion of our terms (ENU, FLU, wxyz, acceleration and yaw rate) to those of vehicles, and back. No ROS here."""
