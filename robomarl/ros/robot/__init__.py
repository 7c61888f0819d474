"""What one robot thinks with: from messages to its command. No ROS here."""
