"""Who did what to a robot, in a way that nobody changes afterwards unseen."""
