"""How episodes are counted and drawn."""
