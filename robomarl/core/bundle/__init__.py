"""Bundles: what is deployed."""
