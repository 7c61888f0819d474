"""Model-based controllers of a payload on cables, and teams and filters made with them."""
