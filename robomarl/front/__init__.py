"""The command line, and pages."""
