"""Matches of a student that sees pixels, with what a teacher that sees the state would do, and fits to these."""
