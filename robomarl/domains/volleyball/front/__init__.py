"""Command line and pages of volleyball."""
