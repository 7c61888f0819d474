"""Bundles: policies packed for deployment."""
