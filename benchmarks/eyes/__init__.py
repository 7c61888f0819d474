"""Robot soccer from pixels: what the perception finds, and matches of a team that sees nothing else."""
