"""Trust in bundles: keys, the statements that they sign, and a robot's decision to accept a bundle."""
