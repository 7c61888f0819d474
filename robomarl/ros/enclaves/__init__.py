"""SROS2: rights to publish and receive for each node, and the keys for them."""
