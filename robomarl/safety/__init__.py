"""The safety filter: between every policy and its robot, in simulation and on board.

numpy and daqp only; `jax_filter` is the one file that imports JAX.
"""
