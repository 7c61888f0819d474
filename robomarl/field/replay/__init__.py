"""From a recording of a field test: what was decided, once more, and what the flight was like."""
