"""Conditions under which vehicles are measured, and what moves them."""
