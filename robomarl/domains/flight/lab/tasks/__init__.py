"""Tasks: reward and termination, one file each; `registry` has the table of them."""
