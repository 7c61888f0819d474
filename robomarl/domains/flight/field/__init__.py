"""The nodes of flying teams: their simulator."""
