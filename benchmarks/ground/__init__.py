"""Ground robots: what fixed gains and learned ones come to."""
