"""How policies fly on a plant that is not ours."""
