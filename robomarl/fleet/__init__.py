"""Bundles on robots: the store on each, the way there, and flashing all or none."""
