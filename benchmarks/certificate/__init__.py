"""Attacks on the certificate: crowds of point masses at the bounds of the vehicle file, with a radio that fails."""
