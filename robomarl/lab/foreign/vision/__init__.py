"""Perception networks of other frameworks, which read pictures in another layout, order or range than robots give."""
