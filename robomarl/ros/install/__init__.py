"""What is started on a robot: its systemd unit and its start script."""
