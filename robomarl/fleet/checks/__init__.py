"""Checks of bundles on the machine that is to fly them."""
