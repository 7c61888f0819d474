"""SROS2: who may publish and hear what, and the keys for it."""
