"""Pictures of robots' cameras: readers of their messages, and what a recording keeps of them."""
