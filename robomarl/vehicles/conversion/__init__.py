"""From our terms (ENU, FLU, wxyz, an acceleration and a yaw rate) to those of vehicles, and back. No ROS here."""
