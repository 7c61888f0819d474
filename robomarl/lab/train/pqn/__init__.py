"""Q-learning over discrete actions."""
