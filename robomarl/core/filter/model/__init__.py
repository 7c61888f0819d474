"""The model that the filter's promise rests on: bodies, motion, rows."""
