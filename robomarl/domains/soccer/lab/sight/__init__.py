"""Players that see pixels: a renderer for training, a network, MuJoCo's pictures for judging, and closed loops."""
