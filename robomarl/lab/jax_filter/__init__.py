"""The safety filter in JAX: for training, and for the graph that holds the filter too."""
