"""The page of a field test in the browser: watch a running fleet, order it, stop it."""
