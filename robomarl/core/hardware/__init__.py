"""What a vehicle and a fleet are: reads and checks their files, nothing else."""
