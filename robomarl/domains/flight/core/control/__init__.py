"""Low-level control that runs on a companion computer too: array-generic, numpy only."""
