"""The safety filter: between every policy and its robot, in simulation and on board.

numpy only; `jax_filter` is the one file that imports JAX.
"""
