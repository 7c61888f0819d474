"""Many training runs with different recipes and seeds, on this machine or a cluster: `robomarl sweep`.

Ray (Core and Tune) starts workers, replaces those that die and stops hopeless trials; `submitit` does so where Slurm
rules. A trial is an ordinary run folder, so each resumes in every bit from its own checkpoint.
"""
