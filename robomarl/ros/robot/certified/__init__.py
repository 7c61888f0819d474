"""The certificate on one robot: its filter, and the words that it exchanges with teammates. No ROS here."""
