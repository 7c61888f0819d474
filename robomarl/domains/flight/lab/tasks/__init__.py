"""Tasks: reward and termination, one file each; `registry` has their table."""
