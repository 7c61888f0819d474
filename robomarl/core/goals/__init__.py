"""Goals that robots can rest at: in their room, and far enough from each other."""
