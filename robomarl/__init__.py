"""robomarl: from a scenario file to a field test of a robot team. Import from its sub-packages."""

__version__ = "0.1.0"
