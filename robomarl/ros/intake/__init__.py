"""Incoming messages: validation, and a record of rejected ones."""
