"""The safety filter of players in JAX, what it assumes, and the plants that this is measured on."""
