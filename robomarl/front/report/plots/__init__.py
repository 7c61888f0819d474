"""Figures: SVG that the pages hold."""
