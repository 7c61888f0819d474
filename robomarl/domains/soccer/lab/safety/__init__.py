"""Safety filter of players in JAX, its assumptions, and the plants on which they are measured."""
