"""Files that start a robot's node: its systemd unit and its start script."""
